"""Follows the main function of a legacy script for one step, and each way through it by the values of parameters."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skills.lib.migration.calls import LARGEST, Exit
from skills.lib.migration.evaluation import Evaluator, NeedsValue
from skills.lib.migration.reading import Legacy, imported
from skills.lib.migration.refusals import Book, excerpt
from skills.lib.migration.values import OTHER, Function, Parameter, Unknown, joined

DEPTH = 20
# More ways through one step than this are not followed, nor more statements on one way.
WAYS = 256
STATEMENTS = 100_000
_TYPES = {"int": "int", "float": "float", "bool": "bool"}
_NUMBERS: dict[str, Callable[[str], Any]] = {"int": int, "float": float}


@dataclass(frozen=True)
class Printed:
    """One thing that a script prints: a text, or a call of a formatter; ``aside`` goes to standard error."""

    value: Any
    line: int
    end: str = "\n"
    aside: bool = False


@dataclass(frozen=True)
class Way:
    """One way through a step: the parameters that decided it, what was printed, and whether it ended in an error."""

    values: dict[str, Any]
    printed: tuple[Printed, ...]
    failed: bool
    line: int


@dataclass(frozen=True)
class Explored:
    """Every way through a step, the parameters that the script has, and what each is compared with.

    ``whole`` is False where something on a way could not be followed.
    """

    ways: tuple[Way, ...]
    parameters: dict[str, Parameter]
    literals: dict[str, set[Any]]
    whole: bool


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class _TooLong(Exception):
    pass


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class Execution(Evaluator):
    """One walk through the main function."""

    def __init__(self, legacy: Legacy, book: Book, values: dict[str, Any], literals: dict[str, set[Any]]) -> None:
        super().__init__(book, values, literals)
        self.legacy = legacy
        self.output: list[Printed] = []
        self.scopes = [copy.deepcopy(legacy.scope)]
        self.depth = 0
        self.followed = 0

    def run(self, step: int, total: int) -> Way:
        """Follow main for a step; raises NeedsValue where a parameter without a value decides."""
        self.scopes[0].update({"--step": step, "--total_steps": total})
        failed, line = False, self.legacy.main.lineno
        self.scopes.append(self._parameters(step, total))
        try:
            self.block(self.legacy.main.body)
        except _Return:
            pass
        except Exit as end:
            failed, line = end.failed or not self.output, end.line
        except _TooLong:
            what = f"main runs more than {STATEMENTS:,} statements"
            self.refuse(self.legacy.main, what, "it is followed no further", "write what it computes as literals")
        return Way(dict(self.values), tuple(self.output), failed, line)

    def _parameters(self, step: int, total: int) -> dict[str, Any]:
        scope: dict[str, Any] = {}
        arguments = self.legacy.main.args
        given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        late = [None] * (len(given) - len(arguments.defaults) - len(arguments.kwonlyargs))
        defaults = [*late, *arguments.defaults, *arguments.kw_defaults]
        for argument, default in zip(given, defaults, strict=True):
            name = argument.arg
            if name in ("step", "total_steps") and self.legacy.is_decorated:
                scope[name] = step if name == "step" else total
                continue
            if not self.legacy.binds_flags:
                # Nothing fills it in: the script reads its command line itself, or the function is called without.
                scope[name] = None if default is None else self.value(default)
                continue
            kind = ast.unparse(argument.annotation).strip("\"'") if argument.annotation else "str"
            kind = _TYPES.get(kind.partition(" ")[0], "text")
            known = None if default is None else self.value(default)
            parameter = Parameter(name, kind, (), known, default is None, "", argument.lineno)
            scope[name] = self.declared[name] = parameter
        return scope

    def printed(self, name: str, given: list[Any], named: dict[str, Any], node: ast.Call) -> None:
        """Keep what a print writes."""
        if name != "print":
            self.output.append(Printed(given[0] if given else "", node.lineno, "", "stderr" in name))
            return
        separator, end = named.get("sep", " "), named.get("end", "\n")
        if not isinstance(separator, str) or not isinstance(end, str) or named.keys() - {"sep", "end", "file", "flush"}:
            self.refuse(node, f"`{excerpt(node)}`")
            return
        words = [str(one) if isinstance(one, (int, float)) else one for one in given] or [""]
        value = words[0]
        if len(words) > 1:
            value = joined(piece for at, word in enumerate(words) for piece in ((separator, word) if at else (word,)))
        target = next((ast.unparse(one.value) for one in node.keywords if one.arg == "file"), "sys.stdout")
        if target not in ("sys.stdout", "sys.stderr"):
            self.refuse(node, f"`{excerpt(node)}`", "it writes to a file", "let the new step ask for an Artifact")
            return
        aside = target == "sys.stderr"
        self.output.append(Printed(value, node.lineno, end, aside))

    def call_function(self, function: Function, given: list[Any], named: dict[str, Any], node: ast.Call) -> Any:
        """The value that a function of the script returns, by following it."""
        if function.node.decorator_list:
            return self.refuse(node, f"`{excerpt(node)}`", "a decorator may change what the function does")
        scope = self._bound(function, given, named)
        if scope is None or self.depth >= DEPTH:
            why = "it is nested too deeply" if scope else "its arguments do not fit, or are taken as a list"
            return self.refuse(node, f"`{excerpt(node)}`", why, "write what it gives as literals")
        self.scopes.append(scope)
        self.depth += 1
        try:
            self.block(function.node.body)
        except _Return as returned:
            return returned.value
        finally:
            self.depth -= 1
            self.scopes.pop()
        return None

    def _bound(self, function: Function, given: list[Any], named: dict[str, Any]) -> dict[str, Any] | None:
        """The parameters of a function with their values; None where the arguments do not fit them."""
        arguments = function.node.args
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        if arguments.vararg or arguments.kwarg or len(given) > len(names):
            return None
        scope = dict(zip(names, given, strict=False)) | named
        late = dict(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True))
        keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        late |= {one.arg: default for one, default in keywords if default is not None}
        for name, default in late.items():
            if name not in scope:
                scope[name] = self.value(default)
        return scope if set(scope) == {*names, *(one.arg for one in arguments.kwonlyargs)} else None

    def block(self, statements: list[ast.stmt]) -> None:
        """Follow statements in order."""
        for statement in statements:
            self.followed += 1
            if self.followed > STATEMENTS:
                raise _TooLong
            method = getattr(self, f"_do_{type(statement).__name__.lower()}", None)
            if method is None:
                self.refuse(
                    statement,
                    f"`{excerpt(statement)}`",
                    f"a {type(statement).__name__.lower()} statement is not followed: it may do anything",
                    "write the step without it, or let the new step ask for what it gives",
                )
            else:
                method(statement)

    def _do_expr(self, statement: ast.Expr) -> None:
        value = self.value(statement.value)
        if isinstance(value, Unknown) and not value.told and not isinstance(statement.value, ast.Constant):
            self.refuse(statement, f"`{excerpt(statement)}`")

    def _do_pass(self, statement: ast.Pass) -> None:
        pass

    def _do_import(self, statement: ast.Import) -> None:
        self.scopes[-1].update(imported(statement))

    def _do_importfrom(self, statement: ast.ImportFrom) -> None:
        self.scopes[-1].update(imported(statement))

    def _do_assign(self, statement: ast.Assign) -> None:
        value = self.value(statement.value)
        for target in statement.targets:
            self.assign(target, value)

    def _do_annassign(self, statement: ast.AnnAssign) -> None:
        if statement.value is not None:
            self.assign(statement.target, self.value(statement.value))

    def _do_augassign(self, statement: ast.AugAssign) -> None:
        read = copy.copy(statement.target)
        read.ctx = ast.Load()
        before, added = self.value(read), self.value(statement.value)
        if isinstance(before, list) and isinstance(statement.op, ast.Add) and isinstance(added, (list, tuple)):
            if self.bounded(statement, before) is before:
                before.extend(added)  # in place, as Python does
            return
        combined = ast.copy_location(ast.BinOp(read, statement.op, statement.value), statement)
        self.assign(statement.target, self.value(combined))

    def _do_return(self, statement: ast.Return) -> None:
        raise _Return(None if statement.value is None else self.value(statement.value))

    def _do_raise(self, statement: ast.Raise) -> None:
        raise Exit(1, statement.lineno)

    def _do_assert(self, statement: ast.Assert) -> None:
        if self.truth(self.value(statement.test), statement.test) is False:
            raise Exit(1, statement.lineno)

    def _do_break(self, statement: ast.Break) -> None:
        raise _Break

    def _do_continue(self, statement: ast.Continue) -> None:
        raise _Continue

    def _do_if(self, statement: ast.If) -> None:
        truth = self.truth(self.value(statement.test), statement.test)
        if truth is None:  # the result is lost already: look into both, for what else there is to refuse
            self.block(statement.body)
            self.block(statement.orelse)
        else:
            self.block(statement.body if truth else statement.orelse)

    def _do_for(self, statement: ast.For) -> None:
        many = self.value(statement.iter)
        if isinstance(many, dict):
            many = list(many)
        if not isinstance(many, (list, tuple, range, str)) or len(many) > LARGEST:
            self.refuse(statement.iter, f"a loop over `{excerpt(statement.iter)}`", do="loop over a literal list")
            return
        for item in many:
            self.assign(statement.target, item)
            try:
                self.block(statement.body)
            except _Break:
                return
            except _Continue:
                continue
        self.block(statement.orelse)


def every_way(legacy: Legacy, book: Book, step: int, total: int) -> Explored:
    """Every way through a step; in the book stands what could not be followed."""
    literals: dict[str, set[Any]] = {}
    while True:
        before = {name: set(found) for name, found in literals.items()}
        explored = _explored(legacy, book, step, total, literals)
        if literals == before:
            return explored


def _explored(legacy: Legacy, book: Book, step: int, total: int, literals: dict[str, set[Any]]) -> Explored:
    noted = book.noted
    ways: list[Way] = []
    parameters: dict[str, Parameter] = {}
    open_ends: list[dict[str, Any]] = [{}]
    while open_ends and len(ways) < WAYS:
        values = open_ends.pop()
        execution = Execution(legacy, book, values, literals)
        try:
            ways.append(execution.run(step, total))
        except NeedsValue as needed:
            given = domain(needed.parameter, literals)
            open_ends += [{**values, needed.parameter.name: value} for value in reversed(given)]
        parameters |= execution.declared
    if open_ends:
        what = f"step {step} has more than {WAYS} ways through it"
        book.refuse(legacy.main, what, "they are looked at one by one", "split the step, or move it by hand")
    return Explored(tuple(ways), parameters, literals, book.noted == noted)


def domain(parameter: Parameter, literals: dict[str, set[Any]]) -> list[Any]:
    """The values of a parameter that can make a difference, None for one that may be left out first."""
    found: list[Any]
    compared = literals.get(parameter.name, set())
    if parameter.type == "bool":
        return [False, True]
    if parameter.choices:
        found = [_NUMBERS.get(parameter.type, str)(choice) for choice in parameter.choices]
        if parameter.default is not None and parameter.default not in found:
            found.append(parameter.default)
    elif parameter.type in ("int", "float"):
        numbers = {number for number in compared if isinstance(number, (int, float))}
        found = sorted({near for number in numbers for near in (number - 1, number, number + 1)})
        if isinstance(parameter.default, (int, float)):
            found = sorted({*found, parameter.default})
    else:
        texts = {one for one in (*compared, parameter.default) if isinstance(one, str)}
        found = [*sorted(texts), OTHER]
    return found if parameter.required or parameter.default is not None else [None, *found]
