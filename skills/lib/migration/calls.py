"""Attributes and calls in a legacy script: a few pure ones are computed, the library's are kept, others refused."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from skills.lib import conventions
from skills.lib.migration.refusals import excerpt
from skills.lib.migration.values import (
    ABSTRACT,
    OTHER,
    Arguments,
    Made,
    Method,
    Named,
    Parameter,
    Parser,
    Place,
    Shifted,
    Template,
    Unknown,
    first_unknown,
    is_known,
    is_word,
    joined,
)
from skills.lib.workflow import formatters, types
from skills.lib.workflow.formatters import text

if TYPE_CHECKING:
    from skills.lib.migration.evaluation import Evaluator

LARGEST = 100_000
_PURE: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        str,
        int,
        float,
        bool,
        len,
        list,
        tuple,
        dict,
        set,
        sorted,
        min,
        max,
        sum,
        any,
        all,
        repr,
        reversed,
    )
}
_SHALLOW = frozenset(("list", "tuple", "len", "reversed"))  # these look at no item
BUILTINS = frozenset((*_PURE, "print", "range", "enumerate", "zip", "exit", "quit", "isinstance"))
_TEXT_METHODS = frozenset(
    "format lstrip rstrip strip lower upper title capitalize replace splitlines split startswith endswith removeprefix"
    " removesuffix ljust rjust center zfill partition join count index find get items keys values copy".split()
)
_GROWING = frozenset(("append", "extend", "insert"))
_PATHS = frozenset(
    "parent parents name stem resolve absolute as_posix joinpath with_name insert append dirname basename realpath"
    " abspath join".split()
)
_ARGUMENT = frozenset(("type", "choices", "default", "required", "help", "action", "dest", "metavar"))
_ACTIONS = ("store", "store_true", "store_false")
STEP_PRINTERS = frozenset(("format_step_output", "format_gate_step", "format_text_output", "format_guidance"))
GUIDANCE = {
    "GuidanceResult": ("title", "actions", "next_command"),
    "FlatCommand": ("command",),
    "BranchCommand": ("if_pass", "if_fail"),
}
_TYPES = {
    name: getattr(types, name)
    for name in (
        *("AgentRole", "Confidence", "Outcome", "QRStatus", "Severity"),
        *("BranchRouting", "Dispatch", "GateConfig", "LinearRouting", "QRState", "Step", "TerminalRouting"),
    )
}
# Where a script has the names of the library from.
HOMES = ("shared", "skills.lib.workflow", "skills.lib.conventions")
FORMATTERS = frozenset((*formatters.__all__, *text.__all__))
LIBRARY = FORMATTERS | GUIDANCE.keys() | _TYPES.keys() | {"format_guidance", "get_convention", "skill"}


def is_plain(value: Any) -> bool:
    """Whether a value is made of texts, numbers and their collections alone."""
    return is_known(value) and isinstance(value, (str, int, float, type(None), list, tuple, dict, set, range))


def attribute(evaluator: Evaluator, owner: Any, node: ast.Attribute) -> Any:
    """The value of an attribute."""
    name = node.attr
    if isinstance(owner, Unknown):
        return owner
    if isinstance(owner, Named):
        return _of_name(owner.name, name)
    if isinstance(owner, Place):
        return owner if name in _PATHS else Unknown(node.lineno, f"`{excerpt(node)}`")
    if isinstance(owner, Arguments):
        return evaluator.lookup(f"--{name}") or owner.parser.parameters.get(name) or _missing(evaluator, node, name)
    if is_word(owner) and name in ("name", "value"):
        return str(getattr(owner, name))
    if isinstance(owner, types.Value) and name in owner.fields():
        found = owner.fields()[name]
        return list(found) if isinstance(found, tuple) else found
    if isinstance(owner, (str, list, tuple, dict, set, Parser, types.Value)):
        return Method(owner, name)
    if isinstance(owner, Made) and name in owner.given:
        return owner.given[name]
    return Unknown(node.lineno, f"`{excerpt(node)}`")


def call(evaluator: Evaluator, function: Any, given: list[Any], named: dict[str, Any], node: ast.Call) -> Any:
    """What a call comes to; Unknown, with a note in the book, for one that may do anything."""
    if isinstance(function, Place):
        return function
    if isinstance(function, Method):
        return _method(evaluator, function, given, named, node)
    if isinstance(function, Named):
        return _named(evaluator, function.name, given, named, node)
    if isinstance(function, Unknown) and function.told:
        return function
    return _refused(evaluator, node)


def _refused(evaluator: Evaluator, node: ast.Call) -> Unknown:
    return evaluator.refuse(
        node,
        f"a call of `{excerpt(node.func)}`",
        "what it does and gives is known only when the script runs; a step of a Workflow does nothing but print",
        "write what it gives as literals, or let the new step ask for it: a Field, an Artifact or a Command",
    )


def _of_name(module: str, name: str) -> Any:
    if (module, name) in (("sys", "argv"), ("sys", "executable"), ("sys", "path")):
        return Place("PYTHON" if name == "executable" else "SCRIPT")
    if module == "argparse" and name != "ArgumentParser":
        return Place()
    if module.startswith(HOMES) and name in LIBRARY:
        return Named(name)
    if module in _TYPES:
        return getattr(_TYPES[module], name, Unknown(0, f"`{module}.{name}`"))
    return Named(f"{module}.{name}")


def _named(evaluator: Evaluator, name: str, given: list[Any], named: dict[str, Any], node: ast.Call) -> Any:
    if name in ("sys.exit", "exit", "quit"):
        raise Exit(given[0] if given else None, node.lineno)
    if name in ("print", "sys.stdout.write", "sys.stderr.write"):
        return evaluator.printed(name, given, named, node)
    if name in ("argparse.ArgumentParser", "ArgumentParser"):
        return Parser()
    if name in ("textwrap.dedent", "dedent") and len(given) == 1 and isinstance(given[0], str):
        return textwrap.dedent(given[0])
    if name in ("pathlib.Path", "Path") or name.startswith("os.path."):
        safe = all(isinstance(one, (Place, str)) for one in given) and any(isinstance(one, Place) for one in given)
        if safe and name.rpartition(".")[2] in (*_PATHS, "Path"):
            return Place()
    if name in LIBRARY:
        return _library(evaluator, name, given, named, node)
    if name in ("range", "enumerate", "zip"):
        return _counted(evaluator, name, given, named, node)
    if name == "str" and len(given) == 1 and isinstance(given[0], (Template, Parameter, Shifted, Place, Unknown)):
        number = isinstance(given[0], Parameter) and given[0].type != "text"
        return joined(given) if number else given[0]
    if name in _SHALLOW and len(given) == 1 and isinstance(given[0], (list, tuple)):
        return evaluator.safely(node, lambda: _listed(_PURE[name](given[0])))
    if name in _PURE:
        unknown = first_unknown([*given, *named.values()])
        if unknown is None:
            return evaluator.safely(node, lambda: _listed(_PURE[name](*given, **named)))
        return unknown if isinstance(unknown, Unknown) else Unknown(node.lineno, f"`{excerpt(node)}`")
    return _refused(evaluator, node)


def _listed(value: Any) -> Any:
    return list(value) if not isinstance(value, (str, int, float, list, tuple, dict, set, type(None))) else value


def _counted(evaluator: Evaluator, name: str, given: list[Any], named: dict[str, Any], node: ast.Call) -> Any:
    if name == "range":
        counted = evaluator.safely(node, lambda: range(*given)) if is_known(given) else None
        return counted if isinstance(counted, range) and len(counted) <= LARGEST else Unknown(node.lineno, "a range")
    if not given or not all(
        isinstance(one, (list, tuple, range)) for one in given[: 1 if name == "enumerate" else None]
    ):
        return first_unknown(given) or Unknown(node.lineno, f"`{excerpt(node)}`")
    if name == "zip":
        return list(zip(*given, strict=False))
    return evaluator.safely(node, lambda: list(enumerate(*given, **named)))


def _method(evaluator: Evaluator, method: Method, given: list[Any], named: dict[str, Any], node: ast.Call) -> Any:
    owner, name = method.owner, method.name
    if isinstance(owner, Parser):
        return _parser(evaluator, owner, name, given, named, node)
    if isinstance(owner, types.Value):
        return dict(owner.fields()) if name == "fields" else _refused(evaluator, node)
    if isinstance(owner, list) and name in _GROWING and len(owner) <= LARGEST:
        return evaluator.safely(node, lambda: getattr(owner, name)(*given))
    if isinstance(owner, str) and name == "join" and len(given) == 1 and isinstance(given[0], (list, tuple)):
        many = given[0]
        if all(isinstance(one, (str, Template, Place, Parameter, Shifted, Unknown)) for one in many):
            return joined(piece for at, one in enumerate(many) for piece in ((owner, one) if at else (one,)))
    if isinstance(owner, dict) and name == "get" and 1 <= len(given) <= 2 and not named:
        key = evaluator.chosen(given[0], list(owner))
        if key is not OTHER and not is_known(key):
            return key if isinstance(key, Unknown) else Unknown(node.lineno, f"`{excerpt(node)}`")
        return evaluator.safely(node, lambda: owner.get(key, *given[1:]))
    if isinstance(owner, dict) and name in ("items", "keys", "values", "copy") and not given:
        return evaluator.safely(node, lambda: _listed(getattr(owner, name)(*given)))
    if isinstance(owner, list) and name == "copy":
        return list(owner)
    if name in _TEXT_METHODS and is_known(owner):
        unknown = first_unknown([*given, *named.values()])
        if unknown is None and not is_wide(name, [owner, *given]):
            return evaluator.safely(node, lambda: _listed(getattr(owner, name)(*given, **named)))
        return unknown if isinstance(unknown, Unknown) else Unknown(node.lineno, f"`{excerpt(node)}`")
    return _refused(evaluator, node)


def is_wide(name: str, given: Sequence[Any]) -> bool:
    """Whether a method that fills up to a width is given one that no text needs."""
    numbers = [one for one in given if isinstance(one, int)]
    numbers += [int(digits[:9]) for digits in re.findall(r"\d+", str(given[0]))] if name == "format" else []
    return any(number > LARGEST for number in numbers)


def _library(evaluator: Evaluator, name: str, given: list[Any], named: dict[str, Any], node: ast.Call) -> Any:
    if name in GUIDANCE:
        fields = dict(zip(GUIDANCE[name], given, strict=False)) | named
        return Made(name, {field: fields.get(field) for field in GUIDANCE[name]}, node.lineno)
    if name == "format_guidance":
        fields = dict(zip(("guidance", "step", "total"), given, strict=False)) | named
        return Made(name, fields, node.lineno)
    function: Any = _TYPES.get(name) or getattr(formatters, name, None) or getattr(text, name, None)
    if name == "get_convention":
        function = conventions.get_convention
    try:
        bound = inspect.signature(function).bind(*given, **named)
    except TypeError as error:
        what = f"`{excerpt(node)}`: {error}"
        return evaluator.refuse(node, what, "the script fails here", "mend the call first")
    if name not in _TYPES or name == "QRState":
        return Made(name, bound.arguments, node.lineno)
    return evaluator.safely(node, lambda: function(*given, **named))


def _parser(
    evaluator: Evaluator, parser: Parser, name: str, given: list[Any], named: dict[str, Any], node: ast.Call
) -> Any:
    if name == "error":
        raise Exit(2, node.lineno)
    if name == "parse_args":
        return Arguments(parser)
    if name == "parse_known_args":
        return (Arguments(parser), Unknown(node.lineno, "the rest of the command line"))
    if name != "add_argument":
        return _refused(evaluator, node)
    flags = [flag for flag in given if isinstance(flag, str) and flag.startswith("--")]
    kind = named.get("type", Named("str"))
    plain = is_known({key: value for key, value in named.items() if key != "type"}) and not named.keys() - _ARGUMENT
    known_type = isinstance(kind, Named) and kind.name in ("str", "int", "float")
    if not (flags and plain and known_type and named.get("action", "store") in _ACTIONS):
        return evaluator.refuse(
            node,
            f"the argument `{excerpt(node)}`",
            "a parameter of a Workflow is a flag with a name, known before anything runs",
            "make it a flag such as --target, its choices and default literals, its type str, int or float",
        )
    dest = str(named.get("dest") or flags[0][2:].replace("-", "_"))
    parser.parameters[dest] = evaluator.declared[dest] = _parameter(dest, named, node.lineno)
    return None


def _parameter(name: str, named: dict[str, Any], line: int) -> Parameter:
    kind = getattr(named.get("type"), "name", "str")
    switch = named.get("action") in ("store_true", "store_false")
    return Parameter(
        name,
        "bool" if switch else {"int": "int", "float": "float"}.get(kind, "text"),
        tuple(str(choice) for choice in named.get("choices") or ()),
        named.get("default", named["action"] == "store_false" if switch else None),
        bool(named.get("required")),
        str(named.get("help") or ""),
        line,
    )


def _missing(evaluator: Evaluator, node: ast.Attribute, name: str) -> Unknown:
    return evaluator.refuse(
        node, f"`{excerpt(node)}`", f"no argument {name} is declared", "declare it with add_argument"
    )


class Exit(Exception):
    """The script ends itself here, with a code or a message."""

    def __init__(self, code: Any, line: int) -> None:
        super().__init__(code)
        self.failed = not (code is None or code == 0) or isinstance(code, ABSTRACT)
        self.line = line
