"""Writes any workflow in the form of ``workflow.yaml``: the inverse of ``compiling``."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from skills.lib.graphfile import written_rules
from skills.lib.graphfile.compiling import compile_file
from skills.lib.graphfile.reader import GraphFileError
from skills.lib.model.as_data import name_of, plain
from skills.lib.model.foreign_data import named
from skills.lib.model.requirements import Arg, Artifact, Command, Field, Requirement
from skills.lib.model.rules import Rules
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import BOUND, Before, Check, Dispatch, Gate, Outcome, Passes, Person
from skills.lib.record import Record

WIDTH = 120
_TEXTS = ("title", "description", "unchecked")


class _Flow(dict[str, Any]):
    """A mapping that stands on one line."""


class _FlowList(list[Any]):
    """A list that stands on one line."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text_node(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text_node)
_Dumper.add_representer(_Flow, lambda dumper, value: _in_line(dumper.represent_dict(value.items())))
_Dumper.add_representer(_FlowList, lambda dumper, value: _in_line(dumper.represent_list(value)))


def _in_line(node: Any) -> Any:
    node.flow_style = True
    return node


def to_yaml(workflow: Workflow) -> str:
    """The workflow as the text of a ``workflow.yaml`` that needs no other file but those of its handlers."""
    first = workflow.steps[0].id if workflow.steps else ""
    given: dict[str, Any] = {"name": workflow.name}
    given |= {name: getattr(workflow, name) for name in _TEXTS if getattr(workflow, name)}
    if workflow.output != "xml":
        given["output"] = workflow.output
    if workflow.start != first:
        given["start"] = workflow.start
    given |= {name: value for name in ("reverify", "policy") if (value := getattr(workflow, name))}
    if workflow.params:
        given["params"] = {arg.name: _param(arg) for arg in workflow.params}
    given |= {name: list(value) for name in ("tools", "forbidden") if (value := getattr(workflow, name))}
    if workflow.always:
        given["always"] = [_stated(stated) for stated in workflow.always]
    if workflow.ends:
        given["ends"] = {str(word): str(how) for word, how in workflow.ends.items()}
    following = [*[step.id for step in workflow.steps[1:]], None]
    given["steps"] = {step.id: _step(step, after) for step, after in zip(workflow.steps, following, strict=True)}
    if workflow.closing:
        given["closing"] = workflow.closing
    parts = [_dumped({name: value}) for name, value in given.items() if name != "steps"]
    steps = "".join(_indented(_dumped({name: step})) for name, step in given["steps"].items())
    parts.insert(list(given).index("steps"), f"steps:\n{steps}" if steps else "steps: {}\n")
    return "".join(parts)


def differences(workflow: Workflow, text: str) -> list[str]:
    """What reading the written text gives otherwise, by step and field; empty if it gives the same workflow.

    Functions count as the same if their names are.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "workflow.yaml"
        file.write_text(text, encoding="utf-8")
        again = compile_file(str(file), lambda name: named(name, _never)).workflow.to_data()
    data = _with_names(workflow.to_data(), workflow)
    found = [name for name in {**data, **again} if name != "steps" and data.get(name) != again.get(name)]
    for one, other in zip(data["steps"], again["steps"], strict=True):
        found += [f"{one['id']} {key}" for key in {**one, **other} if one.get(key) != other.get(key)]
    return found


def losses(workflow: Workflow, text: str) -> list[str]:
    """What of the workflow the written text does not hold, in words: line ends after a text, rendered XML."""
    try:
        changed = differences(workflow, text)
    except GraphFileError as error:
        return [f"workflow.yaml has no form for this: {problem.what}" for problem in error.problems]
    return [f"{', '.join(changed)}: not as it is, because workflow.yaml has no form for it"] if changed else []


def _never(context: object) -> Any:
    raise AssertionError("a workflow that is compared is not run")


def _with_names(data: Any, workflow: Workflow) -> dict[str, Any]:
    """The data with each function by the name that ``to_yaml`` writes."""
    names = {name_of(function): handler_name(function) for step in workflow.steps for function in _functions(step)}

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            if set(value) == {"$call"}:
                return {"$call": names[value["$call"]]}
            return {key: renamed(part) for key, part in value.items()}
        return [renamed(part) for part in value] if isinstance(value, list) else value

    found: dict[str, Any] = renamed(data)
    return found


def _functions(step: StepDef) -> Iterable[Callable[..., Any]]:
    handler = step.handler
    found: list[Any] = [handler]
    if isinstance(handler, Dispatch):
        found = [handler.then, handler.targets, *[check.over for check in handler.checks]]
    return [one for one in found if callable(one) and not isinstance(one, Record)]


def handler_name(function: Callable[..., Any]) -> str:
    """A function as a ``workflow.yaml`` names it: ``file.py:function``."""
    module, _, name = name_of(function).rpartition(":")
    code = getattr(function, "__code__", None)
    if getattr(function, "name_in_data", None) is None and code is not None:
        return f"{os.path.basename(code.co_filename)}:{name}"
    return f"{module.removesuffix('.py').rpartition('.')[2]}.py:{name}"


def _param(arg: Arg) -> Any:
    given = _spec(arg)
    if arg.default is not None:
        given["default"] = arg.default
    if arg.required != (arg.default is None):
        given["required"] = arg.required
    if arg.step is not None:
        given["step"] = arg.step
    return _short(given)


def _spec(spec: Arg | Field) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if spec.type != "text":
        given["type"] = spec.type
    if spec.choices:
        given["choices"] = _FlowList(spec.choices)
    given |= {name: bound for name in ("minimum", "maximum") if (bound := getattr(spec, name)) is not None}
    return given | {name: text for name in ("help", "waives") if (text := getattr(spec, name))}


def _short(given: dict[str, Any]) -> Any:
    """The help alone if nothing else is said."""
    if list(given) == ["help"] and given["help"]:
        return given["help"]
    return given


def _stated(stated: Record) -> dict[str, Any]:
    if isinstance(stated, Before):
        return {"before": _FlowList([stated.first, stated.then])}
    if isinstance(stated, Passes):
        return {"passes": stated.step}
    return {"never-ends-failed": stated.checkpoint}  # type: ignore[attr-defined]  # the third kind


def _step(step: StepDef, following: str | None) -> dict[str, Any]:
    handler = step.handler
    given: dict[str, Any] = {"title": step.title} if step.title else {}
    if step.actions or not isinstance(handler, (Person, Dispatch, Gate)):
        given["do"] = _said(step.actions)
    if step.repeat:
        given["repeat"] = _said(step.repeat)
    given |= {name: list(value) for name in ("forbidden", "needs") if (value := getattr(step, name))}
    if step.requires:
        given["requires"] = [_requirement(spec) for spec in step.requires]
    given |= _decided(step)
    if dict(step.next) != {Outcome.OK: following}:
        given["next"] = _routes(step.next)
    if step.when:
        alone = len(step.next) == 1 and list(step.when) == list(step.next)
        given["when"] = next(iter(step.when.values())) if alone else _words(step.when)
    if step.max_iterations is not None:
        given["max_iterations"] = step.max_iterations
    if step.at_limit is not Outcome.OK:
        given["at_limit"] = str(step.at_limit)
    if step.tools:
        given["tools"] = list(step.tools)
    if step.allow:
        given["allow"] = dict(step.allow)
    return given | {name: value for name in ("fresh", "model", "automatic") if (value := getattr(step, name))}


def _said(texts: Sequence[str]) -> Any:
    found = [str(text) for text in texts]
    return found[0] if len(found) == 1 and found[0] else found


def _words(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(word): value for word, value in mapping.items()}


def _routes(routes: Mapping[Outcome, str | None]) -> Any:
    if list(routes) == [Outcome.OK]:
        return routes[Outcome.OK] or "end"
    return _Flow(_words(routes))


def _decided(step: StepDef) -> dict[str, Any]:
    """What says how the step ends: rules, a person, sub-agents, a gate or a function."""
    handler = step.handler
    given: dict[str, Any] = {}
    rules = step.function if isinstance(step.function, Rules) else None
    if rules:
        named_once = len({outcome for outcome, _, _ in rules.rules}) == len(rules.rules)
        lines = [{str(outcome): text} for outcome, text, _ in rules.rules]
        given["outcomes"] = {word: text for line in lines for word, text in line.items()} if named_once else lines
        if rules.keep:
            given["keep"] = {name: written_rules.recorded(how) for name, how in rules.keep.items()}
    elif step.outcomes:
        given["outcomes"] = _FlowList(map(str, step.outcomes))
    if isinstance(handler, Person):
        given["person"] = _person(handler)
    elif isinstance(handler, Gate):
        parts: dict[str, Any] = {"checkpoint": handler.checkpoint}
        parts |= {"bound": handler.bound} if handler.bound != BOUND else {}
        parts |= {"stale": handler.stale} if handler.stale is not None else {}
        given["gate"] = handler.checkpoint if len(parts) == 1 else parts
    elif isinstance(handler, Dispatch):
        given["dispatch"] = _dispatch(handler)
    elif handler is not None and not rules:
        given["handler"] = handler_name(handler)
    return given


def _person(asked: Person) -> dict[str, Any]:
    given: dict[str, Any] = {"question": asked.question}
    if asked.choices:
        is_plain = all(outcome is Outcome.OK for outcome in asked.choices.values())
        choices = {choice: str(outcome) for choice, outcome in asked.choices.items()}
        given["choices"] = _FlowList(choices) if is_plain else choices
    return given | ({"at_terminal": True} if asked.at_terminal else {})


def _dispatch(dispatch: Dispatch) -> dict[str, Any]:
    given: dict[str, Any] = {"agent": str(dispatch.agent)}
    given |= {name: value for name in ("script", "task") if (value := getattr(dispatch, name))}
    if dispatch.targets:
        given["targets"] = _targets(dispatch.targets)
    if dispatch.tasks:
        given["tasks"] = list(dispatch.tasks)
    given |= {
        name: value for name in ("context", "params", "model", "checkpoint") if (value := getattr(dispatch, name))
    }
    if dispatch.cap != Dispatch("explore").cap:
        given["cap"] = dispatch.cap
    if dispatch.checks:
        given["checks"] = [_check(check) for check in dispatch.checks]
    if dispatch.covers:
        given["covers"] = list(dispatch.covers)
    if dispatch.requires:
        given["requires"] = [_requirement(spec) for spec in dispatch.requires]
    if isinstance(dispatch.then, Rules):
        fields = [spec.name for spec in dispatch.requires]
        gather = {name: written_rules.recorded(how, fields) for name, how in dispatch.then.gather.items()}
        given |= {"gather": gather} if gather else {}
    elif dispatch.then is not None:
        given["handler"] = handler_name(dispatch.then)
    return given


def _targets(targets: Any) -> Any:
    if isinstance(targets, str):
        return targets
    return handler_name(targets) if callable(targets) else list(targets)


def _check(check: Check) -> dict[str, Any]:
    given = {"kind": check.kind, "severity": str(check.severity), "text": check.text}
    return given | ({"over": _targets(check.over)} if check.over else {})


def _requirement(spec: Requirement) -> Any:
    if isinstance(spec, Field):
        given = _spec(spec) | ({} if spec.required else {"required": False})
        if spec.name in ("field", "file", "run"):
            return {"field": spec.name, **given}
        return {spec.name: _short(given)} if given else spec.name
    if isinstance(spec, Artifact):
        schema = {"schema": plain(spec.schema)} if spec.schema is not None else {}
        return {"file": spec.path, **schema, **({"help": spec.help} if spec.help else {})}
    assert isinstance(spec, Command)
    given = {"run": list(spec.argv)}
    given |= {"timeout": spec.timeout} if spec.timeout != 600 else {}
    given |= {name: value for name in ("help", "records", "may_fail") if (value := getattr(spec, name))}
    return given | ({"severity": str(spec.severity)} if spec.severity is not None else {})


def _dumped(value: Any) -> str:
    return str(yaml.dump(_laid_out(value), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH))


def _laid_out(value: Any, room: int = WIDTH - 20) -> Any:
    """The value with each small mapping and list below the first level on one line."""
    if isinstance(value, (_Flow, _FlowList)):
        return value
    if isinstance(value, dict):
        return {key: _one_line(_laid_out(part, room - 2)) for key, part in value.items()}
    return [_one_line(_laid_out(part, room - 2)) for part in value] if isinstance(value, list) else value


def _one_line(value: Any) -> Any:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not parts or any(isinstance(part, (dict, list)) and not isinstance(part, _FlowList) for part in parts):
        return value
    written = yaml.dump(value, Dumper=_Dumper, default_flow_style=True, width=10**6, allow_unicode=True)
    if "\n" in written.rstrip("\n") or len(written) > WIDTH - 25 or any("\n" in str(part) for part in parts):
        return value
    return _Flow(value) if isinstance(value, dict) else _FlowList(value)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else line for line in text.split("\n"))
