"""Needs over plain values that are all known, such as the words of a command: whether they are certainly TRUE.

Whatever is not certain is left to ``expressions``, which says what is FALSE and why. Loaded without any package.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

_SINGLE = (str, int, bool)


class Unsure(Exception):
    """Something is not plain, or not known."""


def hold(
    needs: "Sequence[Sequence[Any]]", argument: "Callable[[str], Any]", params: "Mapping[str, Any]", folder: str
) -> bool:
    """True if all these expressions are TRUE; False if that takes the evaluator to tell.

    ``argument`` gives an argument of the call, None if it is not known.
    """
    try:
        return all(_Reader(argument, params, folder).value(need) is True for need in needs)
    except (Unsure, LookupError, OSError, ValueError, RecursionError):
        return False


class _Reader:
    """What a need can read."""

    __slots__ = ("argument", "folder", "params", "variables")

    def __init__(self, argument: "Callable[[str], Any]", params: "Mapping[str, Any]", folder: str) -> None:
        self.argument = argument
        self.params = params
        self.folder = folder
        self.variables: dict[str, Any] = {}

    def value(self, node: "Sequence[Any]") -> "Any":
        """The value of an expression. Raises Unsure."""
        kind = node[0]
        if kind == "const":
            return node[1]
        if kind == "arg":
            found = self.argument(node[1])
            if found is None:
                raise Unsure
            return found
        if kind in ("param", "var"):
            return (self.params if kind == "param" else self.variables)[node[1]]
        if kind == "list":
            return [self.value(part) for part in node[1]]
        if kind in ("and", "or"):
            return self._joined(node[1], kind == "or")
        if kind == "not":
            return not self.truth(node[1])
        if kind == "if":
            return self.value(node[2 if self.truth(node[1]) else 3])
        if kind == "cmp":
            return self._compared(node)
        if kind == "call":
            return self._called(node[1], node[2])
        raise Unsure

    def truth(self, node: "Sequence[Any]") -> bool:
        """The value of a condition."""
        found = self.value(node)
        if found is True or found is False:
            return found
        raise Unsure

    def _joined(self, nodes: "Sequence[Sequence[Any]]", decides: bool) -> bool:
        for node in nodes:
            if self.truth(node) is decides:
                return decides
        return not decides

    def _compared(self, node: "Sequence[Any]") -> bool:
        before, holds = self.value(node[1]), True
        for operator, right in node[2]:
            value = self.value(right)
            holds = _compare(operator, before, value) and holds
            before = value
        return holds

    def _called(self, name: str, parts: "Sequence[Any]") -> "Any":
        if name in ("all", "any"):
            found = [_checked(value) for value in self._members(parts[0])]
            return all(found) if name == "all" else any(found)
        values = [self.value(part) for part in parts]
        if name == "len" and type(values[0]) is list:
            return len(values[0])
        if name in ("starts", "inside") and all(type(value) is str for value in values):
            return values[0].startswith(values[1]) if name == "starts" else self._inside(*values)
        raise Unsure

    def _members(self, node: "Sequence[Any]") -> "list[Any]":
        if node[0] != "for":
            found = self.value(node)
            return found if type(found) is list else _no_list()
        _, element, variable, source, conditions = node
        listed = self.value(source)
        kept, members = dict(self.variables), []
        for key, value in enumerate(listed if type(listed) is list else _no_list()):
            self.variables = {**kept, variable: value, "key": key}
            if all(self.truth(condition) for condition in conditions):
                members.append(self.value(element))
        self.variables = kept
        return members

    def _inside(self, path: str, root: str) -> bool:
        """``inside``, as ``functions`` has it."""
        if not path or not root or "\0" in path + root:
            raise Unsure
        path, root = (os.path.realpath(os.path.join(self.folder, one)) for one in (path, root))
        return os.path.commonpath((path, root)) == root


def _checked(value: "Any") -> bool:
    if value is True or value is False:
        return value
    raise Unsure


def _no_list() -> "list[Any]":
    raise Unsure


def _compare(operator: str, left: "Any", right: "Any") -> bool:
    """A comparison of two single values of one kind, or of one with a list of its kind."""
    if operator in ("in", "not in"):
        members = right if type(right) is list else _no_list()
        return any(_compare("==", left, member) for member in members) is (operator == "in")
    if type(left) is not type(right) or type(left) not in _SINGLE:
        raise Unsure
    if operator in ("==", "!="):
        return bool(left == right) is (operator == "==")
    if type(left) is bool:
        raise Unsure
    return bool((left < right if operator[0] == "<" else left > right) or (operator[1:] and left == right))
