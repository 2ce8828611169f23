"""What the rules of one step may name, and where each name is found in a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skills.lib.errors import did_you_mean, nearest
from skills.lib.graphfile.reader import At, Reader
from skills.lib.model.requirements import Arg, Artifact, Command, Field, Requirement

# What is known of a recorded value; None if nothing is.
Spec = Arg | Field | None
_ANSWERED = ("answer", "answered_by", "reason")
# What a result of a sub-agent holds, beside what it recorded.
RESULT = ("child", "target", "status", "reason", "verdict", "values")


class Records:
    """What a step records, by name; ``is_open`` if a function may record more."""

    def __init__(self, specs: Mapping[str, Spec], is_open: bool) -> None:
        self.specs = dict(specs)
        self.is_open = is_open

    def has(self, name: str) -> bool:
        """True if the step records that, or may."""
        return name in self.specs or self.is_open


def records(
    requires: Sequence[Requirement], step_params: Sequence[Arg], made: Sequence[str], kind: str, is_open: bool
) -> Records:
    """What a step of that kind records; ``made`` are the names that ``keep`` and ``gather`` give."""
    specs: dict[str, Spec] = {}
    for spec in requires:
        if isinstance(spec, Field):
            specs[spec.name] = spec
            if spec.type == "answers":
                specs["items"] = None
        elif isinstance(spec, Command) and spec.records:
            specs[spec.records] = None
        else:
            assert isinstance(spec, (Artifact, Command))
    specs |= {arg.name: arg for arg in step_params}
    specs |= dict.fromkeys(made)
    if kind == "dispatch":
        specs["results"] = None
    if kind in ("dispatch", "person", "gate"):
        specs |= dict.fromkeys(_ANSWERED)
    return Records(specs, is_open)


class Names:
    """The names that the rules of the step ``own`` may use, and the paths that they are compiled to."""

    def __init__(
        self, own: str, steps: Mapping[str, Records], run_params: Mapping[str, Arg], step_params: Mapping[str, Arg]
    ) -> None:
        self.own = own
        self.steps = steps
        self.params = {**run_params, **step_params}
        self.local: dict[str, list[Any]] = {}

    def path(self, reader: Reader, at: At, keys: Sequence[Any]) -> list[Any]:
        """The compiled place that a name with these keys is; a problem is noted for an unknown one."""
        head, rest = keys[0], list(keys[1:])
        if head in self.local:
            return _get(self.local[head], rest)
        own = self.steps[self.own]
        if head in self.params and head not in own.specs and head not in self.steps:
            _check_inside(reader, at, str(head), self.params[head], rest)
            return ["get", ["root"], ["params", head, *rest]]
        if rest and head in self.steps and isinstance(rest[0], str) and not _is_map(own.specs.get(head), head, own):
            if self.steps[head].has(rest[0]):
                _check_inside(reader, at, f"{head}.{rest[0]}", self.steps[head].specs.get(rest[0]), rest[1:])
                return ["get", ["root"], ["steps", head, *rest]]
            near = nearest(rest[0], sorted(self.steps[head].specs))
            offered = did_you_mean(f"{head}.{near}" if near else "")
            valid = ", ".join(sorted(self.steps[head].specs)) or "nothing"
            reader.fail(at, f"the step {head} records no {rest[0]!r:.60}{offered}", valid)
        if head in self.params:
            return ["get", ["root"], ["params", head, *rest]]
        if head in own.specs:
            _check_inside(reader, at, str(head), own.specs[head], rest)
            return ["get", ["root"], ["state", head, *rest]]
        if head == "iteration" and not rest:
            return ["get", ["root"], ["iteration"]]
        if own.is_open:
            return ["get", ["root"], ["state", head, *rest]]
        self.fail(reader, at, str(head))
        raise AssertionError

    def fail(self, reader: Reader, at: At, name: str) -> None:
        """Note that nothing has this name."""
        own = [*self.local, *self.steps[self.own].specs, *self.params, "iteration"]
        others = [f"{step}.{name}" for step, found in self.steps.items() if step != self.own for name in found.specs]
        same = [other for other in others if other.rpartition(".")[2] == name]
        near = same[0] if same else nearest(name, [*own, *others])
        what = f"{self.own} records no {name[:60]!r}{did_you_mean(near)}"
        reader.fail(at, what, ", ".join(dict.fromkeys(own)), "an earlier step's value is STEP.NAME")

    def spec(self, node: list[Any]) -> Spec:
        """What is known of the value at a compiled place."""
        if node[:2] != ["get", ["root"]]:
            return None
        keys = node[2]
        if keys[0] == "params" and len(keys) == 2:
            return self.params.get(keys[1])
        if keys[0] == "state" and len(keys) == 2:
            return self.steps[self.own].specs.get(keys[1])
        if keys[0] == "steps" and len(keys) == 3:
            return self.steps[keys[1]].specs.get(keys[2])
        return None


def _check_inside(reader: Reader, at: At, name: str, spec: Spec, rest: list[Any]) -> None:
    """Note a name inside of a value that has none."""
    if spec is None or not rest or spec.type in ("json", "items", "answers"):
        return
    if spec.type not in ("list", "statements") or isinstance(rest[0], str):
        reader.fail(at, f"{name} is of type {spec.type} and has nothing inside", f"{name} alone")


def _is_map(spec: Spec, name: str, own: Records) -> bool:
    """True if a value of that name has names inside: then ``name.key`` is a part of it, and no other step's value."""
    return name in own.specs and (spec is None or spec.type in ("json", "items", "answers"))


def _get(base: list[Any], rest: list[Any]) -> list[Any]:
    if not rest:
        return base
    return ["get", base[1], [*base[2], *rest]] if base[0] == "get" else ["get", base, rest]
