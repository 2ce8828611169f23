"""Takes a legacy module apart: its step table, its main function, what ``@skill`` was told, its other names."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass, field
from typing import Any

from skills.lib.errors import UsageError
from skills.lib.migration.calls import HOMES, LIBRARY, STEP_PRINTERS
from skills.lib.migration.evaluation import Evaluator
from skills.lib.migration.refusals import Book, excerpt
from skills.lib.migration.values import Function, Named, Unknown

LIMIT = 1_000_000
_IMPORTS = (ast.Import, ast.ImportFrom)
_ONCE = "the new form holds its steps as data, which is read once"
_AT_IMPORT = "code that runs at import may change what the steps say"


@dataclass
class Legacy:
    """A legacy module; ``total`` is 0 where only its steps tell it, ``step_lines`` has the line of each step's key.

    ``binds_flags`` says whether ``@skill`` gives the main function its parameters from the command line: it leaves
    them to a module that parses it itself.
    """

    tree: ast.Module
    main: ast.FunctionDef
    name: str = ""
    total: int = 0
    description: str = ""
    is_decorated: bool = False
    binds_flags: bool = False
    scope: dict[str, Any] = field(default_factory=dict)
    steps: dict[int, Any] = field(default_factory=dict)
    step_lines: dict[int, int] = field(default_factory=dict)


def decoded(raw: bytes) -> str:
    """The text of a Python source; UsageError for one that has none."""
    if len(raw) > LIMIT:
        raise UsageError(f"the script is larger than {LIMIT:,} bytes", valid="a skill script")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        return raw.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise UsageError(f"the script is not Python source: {error}") from None


def parsed(text: str, book: Book) -> ast.Module:
    """The syntax tree; a broken one is a refusal."""
    try:
        return ast.parse(text)
    except SyntaxError as error:
        book.refuse(error.lineno or 1, f"a syntax error: {error.msg}", "the script does not run", "mend it first")
    except (ValueError, RecursionError, MemoryError) as error:
        book.refuse(1, f"a source that cannot be parsed: {error}", "the script does not run", "mend it first")
    book.close()
    raise AssertionError("a refusal was noted")


def is_legacy(tree: ast.Module) -> bool:
    """Whether a module is a skill script of the older form: ``@skill``, or a main over STEPS or a step formatter."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if any(_decorator(function) for function in functions):
        return True
    if not any(function.name == "main" for function in functions):
        return False
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    flags = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return "--step" in flags and bool(names & ({"STEPS"} | STEP_PRINTERS))


def read(tree: ast.Module, book: Book) -> Legacy:
    """The parts of a legacy module; what cannot be understood is noted in the book."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    decorated = [node for node in functions.values() if _decorator(node)]
    main = decorated[0] if decorated else functions["main"]
    for other in decorated[1:]:
        book.refuse(other, f"a second @skill, {other.name}", "a script has one Workflow", "give it a script of its own")
    for decorator in main.decorator_list:
        if decorator is not _decorator(main):
            what = f"the decorator `{excerpt(decorator)}`"
            book.refuse(decorator, what, "it may change what main does", "take it out")
    imports = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    legacy = Legacy(tree, main, is_decorated=bool(decorated))
    legacy.binds_flags = bool(decorated) and "argparse" not in imports
    evaluator = _ModuleReader(book, main.name)
    for function in functions.values():
        evaluator.scopes[0][function.name] = Function(function)
    for statement in tree.body:
        evaluator.read(statement)
    legacy.scope = evaluator.scopes[0]
    legacy.description = (ast.get_docstring(tree) or "").split("\n", 1)[0].strip()
    _read_table(legacy, tree, book)
    if decorated:
        _read_decorator(legacy, evaluator, book)
    return legacy


class _ModuleReader(Evaluator):
    """Reads the statements of a module, without running any."""

    def __init__(self, book: Book, main: str) -> None:
        super().__init__(book, {}, {})
        self.main = main

    def read(self, statement: ast.stmt) -> None:
        """Bind what a statement binds; note one that does more."""
        if isinstance(statement, _IMPORTS):
            self.scopes[0].update(imported(statement))
        elif isinstance(statement, (ast.FunctionDef, ast.Pass)) or _is_docstring(statement):
            return
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            self._bind(statement)
        elif isinstance(statement, ast.If) and _is_type_checking(statement):
            for inner in statement.body:
                self.read(inner)
        elif isinstance(statement, ast.If) and _is_guard(statement, self.main):
            return
        elif isinstance(statement, ast.Try) and all(
            isinstance(one, (ast.Import, ast.ImportFrom)) for one in statement.body
        ):
            for inner in statement.body:
                self.read(inner)
        elif isinstance(statement, ast.ClassDef) and all(_is_plain(inner) for inner in statement.body):
            self.scopes[0][statement.name] = Unknown(statement.lineno, f"the class {statement.name}")
        elif not _is_bootstrap(statement):
            self.book.refuse(
                statement,
                f"`{excerpt(statement)}` at the module's level",
                _AT_IMPORT,
                "write its result as literals, or take it out",
            )

    def _bind(self, statement: ast.Assign | ast.AnnAssign) -> None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if statement.value is None:
            return
        if any(_is_of_steps(target) for target in targets) and not (
            isinstance(statement.value, ast.Dict) and all(isinstance(target, ast.Name) for target in targets)
        ):
            self.book.refuse(statement, "STEPS is built at run time", _ONCE, "write STEPS out as one literal table")
            self.scopes[0]["STEPS"] = Unknown(statement.lineno, "STEPS", told=True)
            return
        value = self.value(statement.value)
        for target in targets:
            self.assign(target, value)


def imported(statement: ast.Import | ast.ImportFrom) -> dict[str, Any]:
    """The names that an import binds."""
    found: dict[str, Any] = {}
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            name = alias.asname or alias.name.partition(".")[0]
            found[name] = Named(alias.name if alias.asname else name)
        else:
            module = statement.module or ""
            ours = module.startswith(HOMES) and alias.name in LIBRARY
            found[alias.asname or alias.name] = Named(alias.name if ours else f"{module}.{alias.name}")
            if module.startswith(HOMES) and alias.name == "*":
                found |= {name: Named(name) for name in LIBRARY}
    return found


def _read_table(legacy: Legacy, tree: ast.Module, book: Book) -> None:
    table = legacy.scope.get("STEPS")
    assigned = [statement for statement in tree.body if isinstance(statement, (ast.Assign, ast.AnnAssign))]
    targets = [one.targets[0] if isinstance(one, ast.Assign) else one.target for one in assigned]
    nodes = [one.value for one, target in zip(assigned, targets, strict=True) if _is_of_steps(target)]
    tables = [node for node in nodes if isinstance(node, ast.Dict)]
    for node in tables[1:]:
        book.refuse(node, "STEPS is written twice", "only the last one counts", "take one of them out")
    if not tables or not isinstance(table, dict):
        return
    for key in tables[0].keys:
        if isinstance(key, ast.Constant) and type(key.value) is int and key.value > 0:
            if key.value in legacy.step_lines:
                book.refuse(key, f"step {key.value} is in STEPS twice", "only the last one counts", "take one out")
            legacy.step_lines[key.value] = key.lineno
        else:
            what = f"the key `{excerpt(key)}`" if key is not None else "another table inside"
            do = "write the number"
            book.refuse(key or tables[0], f"STEPS has {what}", "a step is found by its number, 1 and up", do)
    legacy.steps = {number: table[number] for number in legacy.step_lines if number in table}


def _read_decorator(legacy: Legacy, evaluator: Evaluator, book: Book) -> None:
    call = _decorator(legacy.main)
    assert call is not None
    given = dict(zip(("name", "total_steps", "description"), (evaluator.value(arg) for arg in call.args), strict=False))
    given |= {keyword.arg or "": evaluator.value(keyword.value) for keyword in call.keywords}
    name, total = given.get("name"), given.get("total_steps")
    if isinstance(name, str):
        legacy.name = name
    else:
        book.refuse(
            call, "a name that is no literal", "runs are recorded under it", "write the name out, or give --name"
        )
    if isinstance(total, int) and not isinstance(total, bool) and 0 < total <= 1_000:
        legacy.total = total
    else:
        book.refuse(call, "total_steps is no literal number", "the steps are followed one by one", "write the number")
    if isinstance(given.get("description"), str) and given["description"]:
        legacy.description = given["description"]


def _decorator(function: ast.FunctionDef) -> ast.Call | None:
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call):
            called = decorator.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name == "skill":
                return decorator
    return None


def _is_of_steps(target: ast.expr) -> bool:
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    return isinstance(target, ast.Name) and target.id == "STEPS"


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a statement of a class runs nothing that could be noticed."""
    return isinstance(statement, (ast.FunctionDef, ast.AnnAssign, ast.Assign, ast.Pass)) or _is_docstring(statement)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_guard(statement: ast.If, main: str) -> bool:
    """Whether it is ``if __name__ == "__main__"`` and calls main, and nothing else."""
    names = {node.id for node in ast.walk(statement.test) if isinstance(node, ast.Name)}
    calls = (f"{main}()", f"sys.exit({main}())", f"raise SystemExit({main}())", f"exit({main}())")
    return (
        names == {"__name__"}
        and not statement.orelse
        and [ast.unparse(one) for one in statement.body] in ([call] for call in calls)
    )


def _is_type_checking(statement: ast.If) -> bool:
    return ast.unparse(statement.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _is_bootstrap(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but put folders on sys.path."""
    if isinstance(statement, ast.If):
        return not statement.orelse and all(_is_bootstrap(inner) for inner in statement.body)
    if isinstance(statement, ast.For):
        return all(_is_climb(inner) for inner in statement.body)
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return False
    return ast.unparse(statement.value.func) in ("sys.path.insert", "sys.path.append")


def _is_climb(statement: ast.stmt) -> bool:
    """Whether it is ``root = os.path.dirname(root)``."""
    called = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(called, ast.Call) and ast.unparse(called.func) in ("os.path.dirname", "dirname")
