"""What was found and what is still to be found: verification, evidence, findings, questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skills.lib.blocks.formatters.fragments import block, elements, exactly, texts
from skills.lib.errors import UsageError
from skills.lib.field_checks import coerce
from skills.lib.model.types import Element, Rendered, Severity

_FACTORED = (
    "Answer each verification question by itself, from the sources alone.",
    "While you answer one, do not look at {subject}, nor at the answers to the others: whoever reads the first answer"
    " beside the question tends to repeat its mistake.",
    "Only when all are answered, compare: where an answer contradicts {subject}, the answer stands.",
)


def format_factored_verification_rationale(subject: str = "the draft") -> Rendered:
    """Explain why verification questions are answered one at a time, without sight of what they verify.

    This is the factored form of the Chain-of-Verification. Source: Dhuliawala et al. 2023, "Chain-of-Verification
    Reduces Hallucination in Large Language Models", arXiv 2309.11495.
    """
    lines = [line.replace("{subject}", exactly(subject)) for line in _FACTORED]
    return block("factored_verification", None, *lines, prose=True)


def format_verification_questions(questions: Sequence[str] | str, about: str = "") -> Rendered:
    """List questions whose answers would show a claim to be wrong, numbered Q1 onwards.

    Source of the method: Dhuliawala et al. 2023, "Chain-of-Verification", arXiv 2309.11495.
    """
    numbered = enumerate(texts(questions, "questions"), 1)
    items = [Element("question", {"id": f"Q{number}"}, text) for number, text in numbered]
    return block("verification_questions", {"about": about or None}, *items)


def format_evidence(items: Sequence[tuple[str, str]], claim: str = "") -> Rendered:
    """List what was observed, each with its source; with no item it says that there is none."""
    found = [Element("item", {"source": source}, exactly(text)) for source, text in items]
    return block("evidence", {"count": len(found), "claim": claim or None}, *found)


def format_findings(findings: Mapping[str, tuple[Severity | str, str]]) -> Rendered:
    """List findings by id with their severity, MUST, SHOULD or COULD; with no finding it says that there is none."""
    items = []
    for name, (severity, text) in findings.items():
        try:
            word = coerce(Severity, severity, f"finding {name}")
        except ValueError as error:
            raise UsageError(str(error)) from None
        items.append(Element("finding", {"id": name, "severity": word}, text))
    return block("findings", {"count": len(items)}, *items)


def format_open_question(question: str, choices: Sequence[str] | str = (), to: str = "user") -> Rendered:
    """Put a question that the agent must not answer itself, with the choices where there are any."""
    offered = elements("choice", choices, "choices") if choices else []
    return block("open_question", {"to": to}, Element("text", None, question), *offered)
