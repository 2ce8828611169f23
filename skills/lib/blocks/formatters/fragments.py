"""Fragments that stand among the actions of a step: what is known, what to do and how, what was found."""

from __future__ import annotations

from skills.lib.blocks import parts
from skills.lib.blocks.formatters.arguments import check_filled, elements, exactly, texts, whole, word
from skills.lib.blocks.xml import escape, render
from skills.lib.errors import UsageError
from skills.lib.model.types import Element, Rendered, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills.lib.model.standalone import QRState

_MODES = {
    "initial": "This is the first pass.",
    "fix": "The last review found issues: fix them, and nothing else.",
    "re-verify": "The last review found issues: check the work again with fresh eyes.",
}
_REREAD = "Read the content once, then the task, then the content a second time before you act on it."
_FACTORED = (
    "Answer each verification question by itself, from the sources alone.",
    "While you answer one, do not look at {subject}, nor at the answers to the others: whoever reads the first answer"
    " beside the question tends to repeat its mistake.",
    "Only when all are answered, compare: where an answer contradicts {subject}, the answer stands.",
)


def format_state_banner(checkpoint: str, iteration: int = 1, mode: str = "initial") -> Rendered:
    """State the checkpoint, the iteration and the mode of a review loop.

    ``mode`` is ``initial``, ``fix``, ``re-verify`` or a word of the author's own, which is printed without a gloss.
    """
    whole(iteration, "iteration")
    text = f"Checkpoint {checkpoint}, iteration {iteration}. {_MODES.get(mode, '')}".rstrip(" ")
    return render(Element("state_banner", {"checkpoint": checkpoint, "iteration": iteration, "mode": mode}, text))


def format_qr_banner(qr: QRState, qr_name: str, fresh_review: bool = False) -> Rendered:
    """State, in one line of text, which review this is and what the last one found.

    A fresh review does not read the earlier findings before it has its own: a verifier that sees a first answer
    tends to repeat its mistakes. Source: Dhuliawala et al. 2023, "Chain-of-Verification Reduces Hallucination in
    Large Language Models", arXiv 2309.11495.
    """
    name = qr_name.upper()
    found_issues = qr.failed or (qr.status is not None and not qr.passed)
    last = "Previous review found issues." if found_issues else "Previous review passed." if qr.passed else ""
    if qr.iteration > 1 or last:
        name += f" (Iteration {qr.iteration}{', fresh review' if fresh_review else ''})"
    return escape(f"{name}: {last or 'Review the work for issues.'}")


def format_progress(done: Sequence[str], current: str, remaining: Sequence[str] = ()) -> Rendered:
    """List what is done, what is under way and what remains, each in order."""
    items = [("done", text) for text in done] + [("current", current)] + [("remaining", text) for text in remaining]
    shown = [Element("item", {"status": status}, text) for status, text in items]
    return render(Element("progress", {"done": len(done), "total": len(items)}, *shown))


def format_context(values: dict[str, str], step: str = "") -> Rendered:
    """Show what is known before the step begins, each value exactly as it was recorded."""
    check_filled(values, "values", "name and its value")
    shown = [parts.value(step, name, exactly(text)) for name, text in values.items()]
    return render(Element("CONTEXT", None, *shown))


def format_current_action(actions: Sequence[str] | str, title: str = "") -> Rendered:
    """Print what is to be done now; the lines may be text and other fragments, mixed."""
    return render(Element("current_action", {"title": title or None}, *texts(actions, "actions"), prose=True))


def format_forbidden(rules: Sequence[str] | str) -> Rendered:
    """List what must not be done in this step."""
    return render(parts.forbidden(texts(rules, "rules")))


def format_expected_output(items: Sequence[str] | str) -> Rendered:
    """List what must be true, or must exist, when the step is done."""
    return render(Element("expected_output", None, *elements("item", items, "items")))


def format_checklist(items: Sequence[str] | str, title: str = "") -> Rendered:
    """List what is to be checked, one by one."""
    return render(Element("checklist", {"title": title or None}, *elements("item", items, "items")))


def format_constraints(constraints: Sequence[str] | str) -> Rendered:
    """List what bounds the work: given from outside, and not to be traded away."""
    return render(Element("constraints", None, *elements("constraint", constraints, "constraints")))


def format_examples(good: Sequence[str] | str = (), bad: Sequence[str] | str = ()) -> Rendered:
    """Show what good work looks like, and what to avoid; each text is printed exactly as it is."""
    if not (good or bad):
        raise UsageError("examples: neither a good nor a bad one is given")
    shown = [("good", text) for text in ((good,) if isinstance(good, str) else good)]
    shown += [("bad", text) for text in ((bad,) if isinstance(bad, str) else bad)]
    return render(Element("examples", None, *[Element(kind, None, exactly(text)) for kind, text in shown]))


def format_decision_table(rows: Sequence[tuple[str, str]], otherwise: str = "") -> Rendered:
    """Say which case calls for which action; ``otherwise`` covers the cases that no row does."""
    check_filled(rows, "rows", "pair of a case and its action")
    cells = [Element("row", None, Element("if", None, case), Element("then", None, action)) for case, action in rows]
    return render(Element("decision_table", None, *cells, *_optional("otherwise", otherwise)))


def format_terms(terms: Mapping[str, str]) -> Rendered:
    """Say what words mean in this skill."""
    check_filled(terms, "terms", "word and its meaning")
    return render(Element("terms", None, *[Element("term", {"name": name}, text) for name, text in terms.items()]))


def format_stop_condition(stop_when: Sequence[str] | str, bound: int | None = None, at_bound: str = "") -> Rendered:
    """Say what must hold before the work may stop, and what happens after ``bound`` iterations."""
    conditions = elements("when", stop_when, "stop_when")
    return render(Element("stop_condition", {"bound": bound}, *conditions, *_optional("at_bound", at_bound)))


def format_resource(name: str, content: str, purpose: str = "") -> Rendered:
    """Embed a reference text in place, exactly as it is, and ask for it to be read twice.

    On the second reading each part is taken in with the whole already known; RE2 measured this for questions. Source:
    Xu et al. 2023, "Re-Reading Improves Reasoning in Large Language Models", arXiv 2309.06275.
    """
    content_element = Element("content", None, exactly(content))
    about = {"name": name, "purpose": purpose or None}
    return render(Element("resource", about, Element("read", None, _REREAD), content_element))


def format_read_files(files: Mapping[str, str]) -> Rendered:
    """Name files to read, with the reason for each: for a text that is too long to be printed in place."""
    check_filled(files, "files", "path and the reason to read it")
    return render(Element("read_files", None, *[Element("file", {"path": path}, why) for path, why in files.items()]))


def format_output_template(template: str, name: str = "") -> Rendered:
    """Show the form of a result, exactly as it is to be written."""
    return render(Element("output_template", {"name": name or None}, exactly(template)))


def format_factored_verification_rationale(subject: str = "the draft") -> Rendered:
    """Explain why verification questions are answered one at a time, without sight of what they verify.

    This is the factored form of the Chain-of-Verification. Source: Dhuliawala et al. 2023, "Chain-of-Verification
    Reduces Hallucination in Large Language Models", arXiv 2309.11495.
    """
    lines = [line.replace("{subject}", exactly(subject)) for line in _FACTORED]
    return render(Element("factored_verification", None, *lines, prose=True))


def format_verification_questions(questions: Sequence[str] | str, about: str = "") -> Rendered:
    """List questions whose answers would show a claim to be wrong, numbered Q1 onwards.

    Source of the method: Dhuliawala et al. 2023, "Chain-of-Verification", arXiv 2309.11495.
    """
    numbered = enumerate(texts(questions, "questions"), 1)
    items = [Element("question", {"id": f"Q{number}"}, text) for number, text in numbered]
    return render(Element("verification_questions", {"about": about or None}, *items))


def format_evidence(items: Sequence[tuple[str, str]], claim: str = "") -> Rendered:
    """List what was observed, each with its source; an empty list says that there is none."""
    found = [Element("item", {"source": source}, exactly(text)) for source, text in items]
    return render(Element("evidence", {"count": len(found), "claim": claim or None}, *found))


def format_findings(findings: Mapping[str, tuple[Severity | str, str]]) -> Rendered:
    """List findings by id with their severity, MUST, SHOULD or COULD; an empty mapping says that there is none."""
    items = [
        Element("finding", {"id": name, "severity": word(Severity, severity, f"finding {name}")}, text)
        for name, (severity, text) in findings.items()
    ]
    return render(Element("findings", {"count": len(items)}, *items))


def format_open_question(question: str, choices: Sequence[str] | str = (), to: str = "user") -> Rendered:
    """Put a question that the agent must not answer itself, with the choices if there are any."""
    offered = elements("choice", choices, "choices") if choices else []
    return render(Element("open_question", {"to": to}, Element("text", None, question), *offered))


def _optional(tag: str, text: str) -> list[Element]:
    return [Element(tag, None, text)] if text else []
