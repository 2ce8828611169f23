"""Read what Lockstep prints the way a strict reader would: well-formed, and by the published grammar.

Of a block an agent takes what PrintedBlock gives, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lxml import etree

from skills.lib.blocks import xml
from skills.lib.testing.commands import filled as filled
from skills.lib.testing.commands import placeholders as placeholders
from skills.lib.testing.commands import text_of, with_more

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCHEMA = Path(xml.__file__).with_name("lockstep.rng")
LIMIT = 1_000_000  # bytes; a block of a workflow stays under 10,000 characters, an author's resource may be longer


@dataclass(frozen=True)
class Spec:
    """One value that a block asks for: a field to record, or a parameter with its own flag."""

    name: str
    type: str
    required: bool
    choices: tuple[str, ...]
    minimum: float | None
    maximum: float | None
    flag: str
    help: str = ""

    def argument(self, value: Any) -> list[str]:
        """The words that report ``value`` on a command line."""
        text = text_of(value)
        return [self.flag, text] if self.flag else ["--record", f"{self.name}={text}"]


@dataclass(frozen=True)
class Child:
    """A sub-agent as its parent's block shows it; ``command`` is empty if it has ended."""

    id: str
    status: str
    target: str
    command: str


@dataclass(frozen=True)
class PrintedBlock:
    """One printed document, checked against the grammar when it is first looked into.

    ``text`` is all of standard output and ``errors`` all of standard error. ``remembered`` has the values that a brief
    block leaves out, by their names in ``left_out``, if its reader remembers what was printed before.
    """

    exit_code: int
    text: str
    errors: str = ""
    remembered: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def root(self) -> etree._Element:
        """The document's root; AssertionError if nothing was printed, or no valid document."""
        assert self.text, f"exit code {self.exit_code}, and nothing was printed: {self.errors}"
        return parse(self.text.removesuffix("\n"))

    @property
    def kind(self) -> str:
        """``step``, ``waiting``, ``done`` or ``refused``."""
        return str(self.root.tag)

    @property
    def step(self) -> str:
        """The id of the step that the block prints; empty if it prints none."""
        return self.root.get("id", "")

    @property
    def run(self) -> str:
        """The run's id; empty if there is no run."""
        return self.root.get("run", "")

    @property
    def turn(self) -> int:
        """The run's turn; 0 if there is none."""
        return int(self.root.get("turn", "0"))

    @property
    def code(self) -> str:
        """Why the request was refused, in one word; empty if it was not."""
        return self.root.get("code", "")

    @property
    def next(self) -> str:
        """The command that goes on; empty if there is none."""
        return self.words("NEXT")

    @property
    def show(self) -> str:
        """The command that prints the present block again: a refusal gives it; else empty."""
        return self.words("SHOW")

    @property
    def why(self) -> str:
        """The reason of a refusal, in words."""
        return self.words("WHY")

    @property
    def valid(self) -> list[str]:
        """What would have been valid instead."""
        return [choice.text or "" for choice in self.root.iterfind("VALID/choice")]

    @property
    def notices(self) -> list[str]:
        """What the block says beside the step: other runs, a definition that changed."""
        return ["".join(str(text) for text in notice.itertext()) for notice in self.root.iterfind("NOTICE")]

    @property
    def context(self) -> dict[str, str]:
        """The values of CONTEXT by ``step.name``, or by name for a parameter of the run; remembered ones too."""
        return {**(self.remembered if self.kind != "done" else {}), **self._values("CONTEXT")}

    @property
    def left_out(self) -> list[str]:
        """The names of the values of CONTEXT that a brief block leaves out, at the end of a run those of RESULT."""
        brief = self.root.find("BRIEF")
        return brief.get("result" if self.kind == "done" else "context", "").split() if brief is not None else []

    @property
    def result(self) -> dict[str, str]:
        """The values that the end of a run shows, by ``step.name``; remembered ones too."""
        return {**(self.remembered if self.kind == "done" else {}), **self._values("RESULT")}

    @property
    def specs(self) -> list[Spec]:
        """What the block asks to report."""
        return [_spec(element) for element in self.root.iterfind("RECORD/*") if element.tag in ("field", "param")]

    @property
    def artifacts(self) -> list[str]:
        """The files that must exist, as paths that may name a reported value in braces."""
        return [element.get("path", "") for element in self.root.iterfind("RECORD/artifact")]

    @property
    def outcomes(self) -> dict[str, str]:
        """Where each outcome leads; ``done`` is the end."""
        return {way.get("name", ""): way.get("to", "") for way in self.root.iterfind("INVOKE_AFTER/outcome")}

    @property
    def children(self) -> list[Child]:
        """The sub-agents that the block dispatches."""
        return [
            Child(
                child.get("id", ""), child.get("status", ""), child.get("target", ""), child.findtext("command") or ""
            )
            for child in self.root.iterfind("DISPATCH/child")
        ]

    def command(self, values: Mapping[str, Any]) -> str:
        """The NEXT command with these values filled in; those without a placeholder are added as reports."""
        return reported(self.next, self.specs, values)

    def words(self, path: str) -> str:
        """The text of the element at that path; empty if there is none."""
        element = self.root.find(path)
        return "" if element is None else "".join(str(text) for text in element.itertext())

    def _values(self, tag: str) -> dict[str, str]:
        return {
            ".".join(filter(None, (value.get("step"), value.get("name")))): value.text or ""
            for value in self.root.iterfind(f"{tag}/value")
        }


def reported(command: str, specs: Sequence[Spec], values: Mapping[str, Any]) -> str:
    """A printed command with these values filled in; those of ``specs`` without a placeholder are added as reports."""
    there = placeholders(command)
    given = [spec for spec in specs if values.get(spec.name) is not None and spec.name not in there]
    more = {spec.name: values[spec.name] for spec in given}
    return with_more(filled(command, values), more, [word for spec in given for word in spec.argument(more[spec.name])])


def _spec(element: etree._Element) -> Spec:
    choices = element.get("choices")
    low, high = element.get("min"), element.get("max")
    return Spec(
        element.get("name", ""),
        element.get("type", "text"),
        element.get("required") != "false",
        tuple(choices.split("|")) if choices else (),
        float(low) if low else None,
        float(high) if high else None,
        element.get("flag", ""),
        element.text or "",
    )


class DocumentError(AssertionError):
    """A printed document that cannot be read: what is wrong, and in which line (from 1)."""

    def __init__(self, what: str, line: int, document: str) -> None:
        shown = document.split("\n")[line - 1 : line]
        super().__init__(f"line {line}: {what}" + "".join(f"\n  {text[:200]}" for text in shown))
        self.line = line


def parse(document: str) -> etree._Element:
    """Return the root of a document that is well-formed and valid against the grammar.

    Raises DocumentError for any other, for one over LIMIT bytes, and for one that begins with anything but its root
    element: no declaration, no DOCTYPE.
    """
    root = parse_well_formed(document)
    schema = _schema()
    if not schema.validate(root):
        error = schema.error_log[0]
        raise DocumentError(error.message, error.line, document)
    return root


def parse_well_formed(document: str) -> etree._Element:
    """Return the root of a well-formed document of any kind; raise DocumentError as ``parse`` does."""
    if not (document[:1] == "<" and document[1:2].isalpha()):
        raise DocumentError("the document does not begin with its root element", 1, document)
    try:
        data = document.encode()
    except UnicodeEncodeError as error:
        line = document.count("\n", 0, error.start) + 1
        raise DocumentError("a lone surrogate is not a character", line, "") from None
    if len(data) > LIMIT:
        raise DocumentError(f"the document has {len(data):,} bytes, more than {LIMIT:,}", 1, document)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, encoding="utf-8")
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise DocumentError(error.msg or "not well-formed", error.lineno or 1, document) from None


@cache
def _schema() -> etree.RelaxNG:
    return etree.RelaxNG(etree.parse(str(SCHEMA)))
