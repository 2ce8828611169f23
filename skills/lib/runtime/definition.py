"""A definition that changed under an open run: what of the change still matters to the run."""

from __future__ import annotations

from skills.lib.engine.decision import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow

# What a step says may be reworded under a run, and another agent may do it; what it demands and where it leads stay.
_WORDING = ("title", "actions", "repeat", "when", "forbidden", "allow", "fresh", "model")


def check(old: Mapping[str, Any], workflow: Workflow, run: Run) -> None:
    """Raise Refused if the run cannot go on with the workflow as it is now; ``old`` is the run's own definition."""
    changed = changes_that_matter(old, workflow, run)
    if not changed:
        return
    what = "; ".join(changed)
    why = f"The workflow was changed under this run: {what}."
    how = "Put it back, and go on with SHOW; or begin a new run with NEXT."
    if run.parent:
        how = ""
        why = (
            f"The workflow was changed under this sub-agent's run: {what}. Where it cannot be put back, stop here and "
            f"tell your orchestrator to start another in its place: --replace {run.id}."
        )
    raise Refused("definition-changed", why, how=how)


def changes_that_matter(old: Mapping[str, Any], workflow: Workflow, run: Run) -> list[str]:
    """What changed of the present step, its requirements and parameters, and the gates ahead; empty if nothing did."""
    new = workflow.to_data()
    before, after = _steps(old), _steps(new)
    step = run.step or ""
    if step not in after:
        return [f"step {step}, where the run stands, is gone"]
    found = []
    if old.get("policy") and old["policy"] != workflow.policy:
        found.append(f"the policy {old['policy']}, which holds for the run, is not that of the workflow any more")
    if before.get(step) != after[step]:
        parts = [
            name for name in {**before.get(step, {}), **after[step]} if before[step].get(name) != after[step].get(name)
        ]
        found.append(f"step {step}, where the run stands, has another {', '.join(sorted(parts))}")
    old_params, new_params = [[arg for arg in data["params"] if arg.get("step") == step] for data in (old, new)]
    if _without_help(old_params) != _without_help(new_params):
        found.append(f"step {step} asks for other parameters")
    gates, new_gates = _gates_ahead(before, step), _gates_ahead(after, step)
    changed = [gate for gate in gates if after.get(gate) != before[gate]]
    found += [f"the gate {gate}, which lies ahead, is {'changed' if gate in after else 'gone'}" for gate in changed]
    found += [f"the gate {gate} is new" for gate in new_gates if gate not in gates]
    for gate in gates:
        if gate in after and None in _ahead(after, step, gate) and None not in _ahead(before, step, gate):
            found.append(f"a way round the gate {gate}, which lay on every way to the end, is new")
    return found


def _steps(data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The steps of a definition by id, without what may be reworded."""
    return {
        step["id"]: {
            **{name: _without_help(value) for name, value in step.items() if name not in _WORDING},
            "tools": step.get("tools") or data.get("tools", []),
        }
        for step in data["steps"]
    }


def _without_help(value: Any) -> Any:
    """Requirements and parameters without their help, which is wording too; anything else as it is."""
    if not isinstance(value, list):
        return value
    return [{**one, "help": ""} if isinstance(one, dict) else one for one in value]


def _gates_ahead(steps: Mapping[str, dict[str, Any]], start: str) -> list[str]:
    """The gates that can be reached from a step, where a verdict or a person decides."""
    ahead = _ahead(steps, start)
    return [name for name, step in steps.items() if name in ahead and name != start and _is_gate(step)]


def _ahead(steps: Mapping[str, dict[str, Any]], start: str, without: str = "") -> set[str | None]:
    """The steps that can be reached from a step, and None if the end can; no way leads through ``without``."""
    found: set[str | None] = set()
    queue = [start]
    while queue:
        for target in steps.get(queue.pop(), {}).get("next", {}).values():
            if target not in found and target != without:
                found.add(target)
                queue += [target] if target is not None else []
    return found


def _is_gate(step: Mapping[str, Any]) -> bool:
    handler = step.get("handler", {})
    kind = handler.get("$kind")
    return kind in ("Gate", "Person") or (kind == "Dispatch" and ("checkpoint" in handler or "fail" in step["next"]))
