"""What a reviewer states and answers, and the items of its review that follow from these, its places and commands."""

from __future__ import annotations

from skills.lib.engine import verdicts
from skills.lib.engine.decision import Refused
from skills.lib.errors import did_you_mean, nearest
from skills.lib.field_checks import is_reason
from skills.lib.model.requirements import Command, Field
from skills.lib.model.run import Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.texts import ANSWER_SHAPE, JUDGED_SHAPE, faults_text, listed
from skills.lib.model.types import ItemStatus, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.engine.proof import Proof

    Item = dict[str, Any]

# How much of a failed command's output becomes the finding.
TAIL = 600


def numbered(workflow: Workflow, run: Run, step_id: str, name: str, statements: list[str] | str) -> list[str] | str:
    """The statements, each with an id that no other statement of the run has: "S1 | scope | statement"."""
    if isinstance(statements, str):
        return statements
    taken = [
        int(entry.partition(" | ")[0][1:])
        for where, field, entries in _recorded(workflow, run)
        if (where, field) != (step_id, name)
        for entry in entries
    ]
    taken += [
        int(item["id"][1:]) for item in run.spec.get("items", ()) if item["id"][:1] == "S" and item["id"][1:].isdigit()
    ]
    first = max(taken, default=0) + 1
    return [f"S{at} | {entry}" for at, entry in enumerate(statements, first)]


def _recorded(workflow: Workflow, run: Run) -> list[tuple[str, str, list[str]]]:
    """The step, the field and the statements of each field of statements that the run recorded."""
    found = []
    for step in workflow.steps:
        for spec in step.requires:
            if isinstance(spec, Field) and spec.type == "statements":
                value = run.state.get(step.id, {}).get(spec.name)
                if isinstance(value, list):
                    found.append((step.id, spec.name, value))
    return found


def to_judge(workflow: Workflow, spec: Mapping[str, Any]) -> list[Item]:
    """The items to verify again, without those that a command of this reviewer's workflow judges."""
    return [item for item in spec.get("items") or () if not _is_judged_by_command(workflow, item)]


def _is_judged_by_command(workflow: Workflow, item: Item) -> bool:
    step, _, number = _name_of(item).rpartition(":") if item.get("command") else ("", "", "")
    if not number.isdecimal() or not workflow.has(step):
        return False
    judging = [spec for spec in workflow.step(step).requires if isinstance(spec, Command) and spec.severity]
    return 0 < int(number) <= len(judging)


def to_answer(workflow: Workflow, run: Run) -> dict[str, Item]:
    """What the reviewer must judge, by id: items to verify again, checks, and its own statements.

    What a command of its own workflow judges is left out.
    """
    given = (*to_judge(workflow, run.spec), *run.spec.get("checks", ()))
    known: dict[str, Item] = {item["id"]: dict(item) for item in given}
    for _, _, entries in _recorded(workflow, run):
        for entry in entries:
            name, scope, statement = entry.split(" | ", 2)
            known[name] = {"id": name, "scope": scope, "check": statement}
    return known


def form(workflow: Workflow, run: Run) -> str:
    """How the answers of a reviewer are written; empty if it has nothing to judge."""
    asked = to_answer(workflow, run)
    checks = run.spec.get("checks", ())
    again = to_judge(workflow, run.spec)
    stated = len(asked) - len(checks) - len(again)
    each = ["statement (its number, S1)"] if stated else []
    each += ["item (its id)"] if again else []
    each += ["check (its name)"] if checks else []
    if not each:
        return ""
    named = " and ".join([part for part in (", ".join(each[:-1]), each[-1]) if part])
    shape = ANSWER_SHAPE if stated else JUDGED_SHAPE
    text = f"Answers are a JSON array, one for each {named}: {shape}. "
    if stated and len(each) > 1:
        text += "severity is given for a statement alone. "
    if any(check["scope"] != checks[0]["scope"] for check in checks):
        text += 'For a check with several targets, place is {"target": "path:line", …}; '
        text += "targets that fare differently get an answer each. "
    kinds = [item["kind"] for item in again if "kind" in item]
    shared = next((item for item in again if kinds.count(item.get("kind")) > 1), None)
    if shared:
        text += "Items of one check that fare alike may share an answer: "
        text += f'{{"id": "{shared["kind"]}", "status": …, "place": {{"{shared["scope"]}": "path:line", …}}}}. '
    return text


def items(workflow: Workflow, run: Run, field: str, answers: Sequence[Mapping[str, Any]], proof: Proof) -> list[Item]:
    """The items of the review: each thing to judge with its answer in that field, then those that commands judged.

    Raises Refused if an answer is to nothing that must be judged, if one is missing, or if a place cannot be opened.
    Empty if nothing was stated: the reviewer ends, and its review counts as not made.
    """
    asked = to_answer(workflow, run)
    commands = by_commands(workflow, run)
    # What a command judges needs no answer, and an answer does no harm.
    own = {item["id"] for item in commands}
    answers = [answer for answer in answers if answer["id"] in asked or answer["id"] not in own]
    found: dict[str, Item] = {}
    faults: list[str] = []
    before = findings_before(run)
    for answer in answers:
        for name, place in _meant(answer, asked, faults):
            if name in found:
                faults.append(f"{name} is answered twice")
                continue
            found[name] = _item(asked[name], answer, place, run, proof, faults)
            faults += unsettled(found[name], before)
    left = [name for name in asked if name not in found]
    if left:
        faults.append(f"no answer to {listed(left, 20)}; what you could not look at is TODO, with the reason")
    if faults:
        why = f"{faults_text(faults)}."
        raise Refused("other-items", why, tuple(left[:20]), of="names", missing=tuple(left), wrong=(field,))
    return [*(found[name] for name in asked), *commands]


def _meant(answer: Mapping[str, Any], asked: Mapping[str, Item], faults: list[str]) -> list[tuple[str, str]]:
    """The ids that an answer is about, each with its place: one id, or those of a check's targets by the check's kind.

    What is wrong with the answer is added to ``faults``.
    """
    name, place = answer["id"], answer["place"]
    of_kind = {stub["scope"]: key for key, stub in asked.items() if stub.get("kind") == name}
    if name in asked and isinstance(place, str):
        return [(name, place)]
    if not of_kind and name not in asked:
        kinds = [stub["kind"] for stub in asked.values() if "kind" in stub]
        near = nearest(name, [*asked, *kinds])
        faults.append(f"{name!r:.40} is nothing that was asked{did_you_mean(near)}")
        return []
    if isinstance(place, str) and len(of_kind) == 1:
        return [(next(iter(of_kind.values())), place)]
    if isinstance(place, str) and answer["status"] == ItemStatus.TODO:
        return [(key, place) for key in of_kind.values()]
    if isinstance(place, str) or not of_kind:
        targets = ", ".join(of_kind) if of_kind else ""
        form = f"{{target: place}}, with the targets {targets:.300}" if targets else "a text"
        faults.append(f"{name}: place is {form}")
        return []
    found = []
    for target, text in place.items():
        if target in of_kind:
            found.append((of_kind[target], text))
        else:
            faults.append(f"{name} has no target {target!r:.40}; its targets are {', '.join(of_kind):.300}")
    return found


def _item(
    stub: Mapping[str, Any], answer: Mapping[str, Any], place: str, run: Run, proof: Proof, faults: list[str]
) -> Item:
    """One thing to judge with its answer; what is wrong with it is added to ``faults``."""
    name, status, given = stub["id"], answer["status"], answer["severity"]
    severity = stub.get("severity") or given or (Severity.MUST if status == ItemStatus.PASS else "")
    if not severity:
        faults.append(f"{name}: severity is missing, one of MUST, SHOULD, COULD")
    if stub.get("severity") and given and given != severity:
        faults.append(f"{name}: its severity is {severity}, not {given}")
    item = {name: stub[name] for name in ("id", "scope", "check", "kind", "command") if name in stub}
    item.update(severity=severity, status=status, finding=answer["finding"], place=place)
    if place:
        faults += located(item, run, proof)
    return item


def findings_before(run: Run) -> dict[str, Item]:
    """The earlier findings by id: empty for one of the last review, the item for one that this reviewer reported."""
    found: dict[str, Item] = {name: {} for name in run.spec.get("failed", ())}
    for state in run.state.values():
        reported = state.get("items")
        for item in reported if isinstance(reported, list) else ():
            if (item["status"] == ItemStatus.FAIL or item.get("failed")) and not item.get("command"):
                found[item["id"]] = item
    return found


def with_findings_before(items: Sequence[Item], before: Mapping[str, Item]) -> list[Item]:
    """The items of a report, with the earlier findings that it leaves out.

    A finding that is TODO now is marked as ``failed``, so that whoever judges it next must say why it passes.
    """
    found = [
        {**item, "failed": True} if item["id"] in before and item["status"] == ItemStatus.TODO else item
        for item in items
    ]
    known = {item["id"] for item in items}
    return [*found, *(item for name, item in before.items() if item and name not in known)]


def unsettled(item: Item, before: Mapping[str, Item]) -> list[str]:
    """What is wrong with an item that was a finding before, if it passes now and nothing says why."""
    if item["id"] not in before or item["status"] != ItemStatus.PASS or is_reason(item["finding"]):
        return []
    return [f"{item['id']} was a finding before: say in finding what is there now that settles it"]


def located(item: Item, run: Run, proof: Proof) -> list[str]:
    """Put the file that an item's place names, and its content, into the item; return what is wrong with the place.

    ``outside`` marks a file that is not under review.
    """
    covers = run.spec.get("covers")
    seen = proof.look(item["place"], run.spec.get("bases", ()))
    if seen["file"] and (seen["content"] or covers is not None):
        item["file"], item["content"] = seen["file"], seen["content"]
        if item["status"] == ItemStatus.FAIL and seen.get("text"):
            item["text"] = seen["text"]
        if covers is not None and not proof.covered(covers, [seen["file"]]):
            item["outside"] = True
    if item["status"] == ItemStatus.FAIL and seen.get("lacks_line"):
        return [f"{item['id']}: {seen['file']} is a whole file; name the line that is wrong, as path:line"]
    if covers is None or not seen["why"]:
        return []
    # A finding may name a file that is missing: that is what is wrong.
    absent = item["status"] == ItemStatus.FAIL and seen["file"] and not seen["content"]
    return [] if absent else [f"{item['id']}: {seen['why']}; a place is path:line"]


def by_commands(workflow: Workflow, run: Run) -> list[Item]:
    """The items that commands judge by how they end, in the order of the steps; TODO if one to verify was not run.

    An item to verify keeps its id in the review, which may differ from its name here.
    """
    again: dict[str, list[Item]] = {}
    for item in run.spec.get("items", ()):
        if _is_judged_by_command(workflow, item):
            again.setdefault(_name_of(item), []).append(item)
    found = [
        {**item, "id": one["id"]}
        for state in run.state.values()
        for item in state.get("judged", ())
        for one in again.pop(_name_of(item), [item])
    ]
    todo = {"status": ItemStatus.TODO.value, "finding": "its command was not run again", "place": ""}
    return [*found, *({**item, **todo} for left in again.values() for item in left)]


def _name_of(item: Item) -> str:
    """The name in the workflow of an item that a command judges; an older ledger has only its id."""
    return str(item["command"] if item["command"] != "true" else item["id"])


def completed(workflow: Workflow, run: Run, reported: Sequence[Item]) -> list[Item]:
    """The items that a reviewer reported itself, with those of its commands, and TODO for what it left unanswered."""
    commands = by_commands(workflow, run)
    has = {item["id"] for item in (*reported, *commands)}
    todo = {"status": ItemStatus.TODO.value, "finding": "the reviewer did not answer it", "place": ""}
    left = [stub for name, stub in to_answer(workflow, run).items() if name not in has]
    return [*reported, *commands, *({"severity": Severity.MUST.value, **stub, **todo} for stub in left)]


def judged(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    recorded: Mapping[str, Any],
    evidence: Sequence[Mapping[str, Any]],
    proof: Proof,
) -> dict[str, Any]:
    """What a reviewer's step keeps beside the report: ``items``, and what commands ``judged``; empty if neither."""
    found: dict[str, Any] = {}
    commands = _by_commands(step, evidence)
    if commands:
        found["judged"] = commands
    state = {**run.state, step.id: {**run.state.get(step.id, {}), "judged": commands}}
    after = run.changed(state=state)
    for spec in step.requires:
        if not isinstance(spec, Field) or spec.name not in recorded:
            continue
        if spec.type == "answers":
            found["items"] = items(workflow, after, spec.name, recorded[spec.name], proof)
        elif spec.type == "items":
            found[spec.name] = completed(workflow, after, _located_items(run, spec.name, recorded[spec.name], proof))
    if "items" not in found:
        return found
    every = found["items"] = with_findings_before(found["items"], findings_before(run))
    # The author of a check or a command chose its severity; the reviewer chose that of the others.
    own = [item for item in every if "kind" not in item and not item.get("command")]
    blocks = any(item["severity"] in verdicts.blocking_severities(1) for item in every)
    if own and not run.spec.get("items") and not blocks:
        why = "Every item is a COULD, and a COULD stops nothing: judge at least one thing that is MUST or SHOULD."
        reported = [
            spec.name for spec in step.requires if isinstance(spec, Field) and spec.type in ("items", "answers")
        ]
        raise Refused("bad-value", why, wrong=tuple(reported))
    return found


def _located_items(run: Run, field: str, items: Sequence[Mapping[str, Any]], proof: Proof) -> list[dict[str, Any]]:
    """The items reported in a field, with the files of their places. Raises Refused for a place that is wrong."""
    found, faults = [], []
    before = findings_before(run)
    for given in items:
        item = dict(given)
        faults += unsettled(item, before)
        if item.get("place"):
            faults += located(item, run, proof)
        elif "covers" in run.spec and item["status"] != ItemStatus.TODO:
            faults.append(f"{item['id']}: place is empty; say where you looked, as path:line")
        found.append(item)
    if faults:
        raise Refused("bad-value", f"{faults_text(faults)}.", wrong=(field,))
    return found


def _by_commands(step: StepDef, evidence: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """An item for each command of the step that judges: PASS if it ended with 0."""
    checks = [spec for spec in step.requires if not isinstance(spec, Field)]
    found: list[dict[str, Any]] = []
    for spec, result in zip(checks, evidence, strict=True):
        if isinstance(spec, Command) and spec.severity:
            name = f"{step.id}:{len(found) + 1}"
            what = spec.help or f"{result['what']} ends with 0"
            item = {"id": name, "scope": "all", "check": what, "severity": str(spec.severity), "place": ""}
            item["command"] = name
            status = ItemStatus.PASS if result["ok"] else ItemStatus.FAIL
            finding = f"{result['what']} ended with 0" if result["ok"] else str(result["why"])[-TAIL:]
            found.append({**item, "status": status.value, "finding": finding})
    return found
