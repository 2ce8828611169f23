"""YAML as policies have it: plain mappings, lists and values, each with its line.

PyYAML's pure-Python parser gives events; the values are built here, so that no tag, anchor or merge key ever runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skills.lib.errors import EnvironmentProblem
from skills.lib.guard.faults import PolicyError

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST = 12
LARGEST = 1_000_000
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_QUOTES = 'put expressions with [ ] { } , : # or a leading % in quotes: "accounts[$user].balance"'


class Text(str):
    """A text of a YAML file, with the line where it begins and whether it stood in quotes."""

    line: int
    quoted: bool


class Block(dict[str, Any]):
    """A mapping of a YAML file, with its line."""

    line: int


def load(text: str, file: str) -> Block:
    """The mapping that a YAML text holds. Raises PolicyError with file and line."""
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise EnvironmentProblem(
            f"{file} cannot be compiled: PyYAML is not installed", remedy="pip install PyYAML, then the same again"
        ) from error
    if len(text) > LARGEST:
        raise PolicyError(f"the policy is larger than {LARGEST} characters", file)
    try:
        return _Builder(file, yaml).document(iter(yaml.parse(text, Loader=yaml.SafeLoader)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "it cannot be read"
        remedy = "indent with blanks" if "'\\t'" in what else _QUOTES
        raise PolicyError(f"this is no YAML: {what}", file, mark.line + 1 if mark else 1, remedy=remedy) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise PolicyError(f"this is no YAML: {str(error).splitlines()[0]:.80}", file) from error


class _Builder:
    """Builds values of parser events."""

    def __init__(self, file: str, yaml: Any) -> None:
        self.file = file
        self.yaml = yaml

    def error(self, what: str, event: Any, remedy: str = "") -> PolicyError:
        """The error at the place of an event."""
        return PolicyError(what, self.file, event.start_mark.line + 1, remedy=remedy)

    def document(self, events: Iterator[Any]) -> Block:
        """The one document of a file, which is a mapping."""
        next(events)
        first = next(events)
        if isinstance(first, self.yaml.StreamEndEvent):
            raise PolicyError("the file is empty", self.file, 1, remedy="write `tools:` and a tool's rule below it")
        first = next(events)
        if not isinstance(first, self.yaml.MappingStartEvent):
            raise self.error("a policy is a mapping", first, "write `tools:` and a tool's rule below it")
        made: Block = self.value(first, events, 1)
        next(events)
        after = next(events)
        if not isinstance(after, self.yaml.StreamEndEvent):
            raise self.error("the file has a second document", after, "keep one policy in a file")
        return made

    def value(self, event: Any, events: Iterator[Any], depth: int) -> Any:
        """The value that begins with this event."""
        yaml = self.yaml
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
            raise self.error(
                "a policy has no anchors, aliases and tags (& * !)", event, "write the value out, or quote it"
            )
        if depth > DEEPEST:
            raise self.error(f"this is nested deeper than {DEEPEST} levels", event)
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(event := next(events), yaml.SequenceEndEvent):
                items.append(self.value(event, events, depth + 1))
            return items
        made = Block()
        made.line = event.start_mark.line + 1
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self.error("a name is text", event, "put a name with [ ] or { } in quotes")
            key = self.text(event)
            if key in made:
                raise self.error(f"{key!r:.80} stands here twice", event, "keep one of them")
            if key == "<<":
                raise self.error("a policy has no merge keys (<<)", event, "write the values out")
            made[key] = self.value(next(events), events, depth + 1)
        return made

    def text(self, event: Any) -> Text:
        """A scalar as text."""
        made = Text(event.value)
        made.line, made.quoted = event.start_mark.line + 1, bool(event.style)
        return made

    def scalar(self, event: Any) -> Any:
        """A scalar: text, or what true, false, null and numbers without quotes are."""
        text = self.text(event)
        if text.quoted:
            return text
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        try:
            return int(text) if len(text) < 300 else text
        except ValueError:
            pass
        try:
            number = float(text)
        except ValueError:
            return text
        is_plain = set(text) <= set("0123456789.+-eE")
        return number if is_plain and number not in (float("inf"), float("-inf")) else text
