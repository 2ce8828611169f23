"""One call of every formatter with a text in every parameter that takes one, and whole documents of the engine."""

from __future__ import annotations

from collections.abc import Callable

import skills.lib.workflow.formatters as formatters
from skills.lib.workflow.formatters import text as plain
from skills.lib.workflow.requirements import Arg, Artifact, Command, Field
from skills.lib.workflow.types import Dispatch, Element, GateConfig, QRState, Rendered

Text = Callable[[], str]

FRAGMENTS: dict[str, Callable[[Text], Rendered]] = {
    "format_checklist": lambda t: formatters.format_checklist([t(), t()], title=t()),
    "format_constraints": lambda t: formatters.format_constraints([t(), t()]),
    "format_context": lambda t: formatters.format_context({t(): t()}, step=t()),
    "format_current_action": lambda t: formatters.format_current_action(
        [t(), formatters.format_forbidden(t()), t()], title=t()
    ),
    "format_decision_table": lambda t: formatters.format_decision_table([(t(), t()), (t(), t())], otherwise=t()),
    "format_evidence": lambda t: formatters.format_evidence([(t(), t()), (t(), t())], claim=t()),
    "format_examples": lambda t: formatters.format_examples(good=[t(), t()], bad=[t()]),
    "format_expected_output": lambda t: formatters.format_expected_output([t(), t()]),
    "format_factored_verification_rationale": lambda t: formatters.format_factored_verification_rationale(t()),
    "format_findings": lambda t: formatters.format_findings({"F1" + t(): ("MUST", t()), "F2": ("could", t())}),
    "format_forbidden": lambda t: formatters.format_forbidden([t(), t()]),
    "format_handover": lambda t: formatters.format_handover(t(), done=[t()], remaining=[t(), t()], command=["x", t()]),
    "format_open_question": lambda t: formatters.format_open_question(t(), choices=[t(), t()], to=t()),
    "format_orchestrator_action": lambda t: formatters.format_orchestrator_action(t(), ["x", t()]),
    "format_output_template": lambda t: formatters.format_output_template(t(), name=t()),
    "format_parallel_dispatch": lambda t: formatters.format_parallel_dispatch(
        "developer", [t(), t()], context=t(), model=t()
    ),
    "format_post_qr_routing": lambda t: formatters.format_post_qr_routing(
        "./" + t(), 3, 4, QRState(2, failed=True), options={"plan_file": t()}, interpreter=t()
    ),
    "format_progress": lambda t: formatters.format_progress([t(), t()], t(), [t()]),
    "format_qr_banner": lambda t: formatters.format_qr_banner(
        QRState(2, status="fail"), t().upper(), fresh_review=True
    ),
    "format_qr_file_output": lambda t: formatters.format_qr_file_output(t(), t(), ["x", t()]),
    "format_read_files": lambda t: formatters.format_read_files({t(): t()}),
    "format_resource": lambda t: formatters.format_resource(t(), t(), purpose=t()),
    "format_state_banner": lambda t: formatters.format_state_banner(t(), 2, t()),
    "format_stop_condition": lambda t: formatters.format_stop_condition([t(), t()], bound=5, at_bound=t()),
    "format_subagent_dispatch": lambda t: formatters.format_subagent_dispatch(
        "explore", "./" + t(), t(), 2, {"dimension": t()}, task=t(), model=t(), interpreter=t()
    ),
    "format_template_dispatch": lambda t: formatters.format_template_dispatch(
        "explore", [t()], t(), "./" + t(), t(), 2, {"scope": t()}, model=t(), interpreter=t()
    ),
    "format_terms": lambda t: formatters.format_terms({t(): t()}),
    "format_verification_questions": lambda t: formatters.format_verification_questions([t(), t()], about=t()),
}

# Sections that belong to a document; here they stand in one.
SECTIONS: dict[str, Callable[[Text], Rendered]] = {
    "format_invoke_after": lambda t: formatters.format_invoke_after(
        {"ok" + (name := t()): t(), "fail": None}, when={"ok" + name: t()}, commands={"fail": ["x", t()]}
    ),
    "format_next_block": lambda t: formatters.format_next_block([t(), t()]),
    "format_record_block": lambda t: formatters.format_record_block(
        [
            Command(["make", t()], help=t()),
            Artifact(t(), schema={}, help=t()),
            Arg("confidence", choices=[t()], help=t()),
            Field("cause", minimum=1, maximum=9, choices=[t()], help=t()),
        ]
    ),
}

DOCUMENTS: dict[str, Callable[[Text], Rendered]] = {
    "format_step_output": lambda t: formatters.format_step_output(
        t(),
        4,
        t(),
        [t(), "", formatters.format_checklist(t())],
        dispatch=Dispatch("developer", tasks=[t()], context=t()),
        next_command=[t(), t()],
        context=formatters.format_context({t(): t()}),
        record=formatters.format_record_block([Field("cause", help=t())]),
        forbidden=formatters.format_forbidden(t()),
        invoke_after=formatters.format_invoke_after({t(): t()}),
    ),
    "format_gate_step": lambda t: formatters.format_gate_step(
        "./" + t(),
        3,
        4,
        t(),
        QRState(2, status="pass"),
        GateConfig(t(), 1, t(), t()),
        options={"plan_file": t()},
        interpreter=t(),
    ),
}

TEXTS: dict[str, Callable[[Text], str]] = {
    "format_text_gate": lambda t: plain.format_text_gate(t(), {t(): ["x", t()]}),
    "format_text_list": lambda t: plain.format_text_list("RULES " + t(), [t(), t()]),
    "format_text_next": lambda t: plain.format_text_next(["x", t()]),
    "format_text_output": lambda t: plain.format_text_output(1, 2, t(), [t(), t()], t(), t()),
    "format_text_resource": lambda t: plain.format_text_resource(t(), t()),
}


def in_document(name: str, fragment: Rendered) -> str:
    """Return the document that a fragment stands in: itself, a step with it as a section, or a step with it in DO."""
    if name in DOCUMENTS:
        return fragment
    if name == "format_invoke_after":
        return formatters.format_step_output(1, 2, "Title", invoke_after=fragment)
    if name == "format_next_block":
        return formatters.format_step_output(1, 2, "Title", next_command=fragment)
    if name == "format_record_block":
        return formatters.format_step_output(1, 1, "Title", record=fragment)
    return formatters.format_step_output(1, 1, "Title", [fragment])


def _place(t: Text) -> dict[str, object]:
    return {
        "protocol": 1,
        "skill": t(),
        "id": t(),
        "number": 3,
        "of": 5,
        "title": t(),
        "run": "k3f9q2mx",
        "turn": 3,
        "iteration": 2,
    }


def step(t: Text) -> Element:
    """A step with every section that one can have."""
    return Element(
        "step",
        _place(t),
        Element("STATE", None, t()),
        Element("NOTICE", None, "Another run is open: ", Element("command", None, t()), t()),
        Element("CONTEXT", None, Element("value", {"step": "gate", "name": t()}, t())),
        Element("DO", None, t(), formatters.format_checklist([t()]), t(), prose=True),
        Element(
            "DISPATCH",
            {"agent": "explore", "model": t(), "children": 1, "left": 1},
            Element("how", None, t()),
            Element(
                "child",
                {"id": "k3f9q2mx.1", "status": "pending", "target": t()},
                Element("command", None, t()),
            ),
            Element("lost", None, t()),
            Element("replace", None, t()),
        ),
        Element(
            "RECORD",
            None,
            Element("field", {"name": t(), "type": "int", "required": True, "min": 1, "max": 5}, t()),
            Element("param", {"name": t(), "flag": t(), "type": "text", "required": False, "choices": t()}, t()),
            Element("artifact", {"path": t(), "schema": True}, t()),
            Element("check", {"command": t(), "timeout": 600}, t()),
            Element("file", None, t()),
        ),
        Element("FORBIDDEN", None, Element("rule", None, t())),
        Element(
            "INVOKE_AFTER",
            None,
            Element("outcome", {"name": "ok", "to": t(), "flag": t()}, t()),
            Element("outcome", {"name": "iterate", "to": t()}, t()),
        ),
        Element("NEXT", {"required": True}, t()),
    )


def waiting(t: Text) -> Element:
    """A run that waits for a person."""
    return Element(
        "waiting",
        _place(t),
        Element("STATE", None, t()),
        Element("CONTEXT", None, Element("value", {"name": t(), "file": t()}, t())),
        Element("DO", None, t(), prose=True),
        Element("QUESTION", {"choices": t(), "by": "person"}, t()),
        Element("ANSWER", None, t()),
        Element("NEXT", {"required": True}, t()),
    )


def done(t: Text) -> Element:
    """The end of a child run, from which the parent goes on."""
    return Element(
        "done",
        {"protocol": 1, "skill": t(), "run": "k3f9q2mx.2", "turn": 7, "status": "done"},
        Element("STATE", None, t()),
        Element("NOTICE", None, t()),
        Element("RESULT", None, Element("value", {"step": t(), "name": t()}, t())),
        Element("ORCHESTRATOR", {"left": 0, "of": 2}, t()),
        Element("NEXT", {"required": True}, t()),
    )


def refused(t: Text) -> Element:
    """A command that was not allowed."""
    return Element(
        "refused",
        {"protocol": 1, "skill": t(), "run": "k3f9q2mx", "turn": 3, "code": "skipped-step"},
        Element("ASKED", None, t()),
        Element("STANDS", None, t()),
        Element("WHY", None, t()),
        Element("VALID", None, Element("choice", None, t()), Element("choice", None, t())),
        Element("SHOW", None, t()),
        Element("NEXT", {"required": True}, t()),
    )


ENGINE: dict[str, Callable[[Text], Element]] = {"step": step, "waiting": waiting, "done": done, "refused": refused}


class Words:
    """Counting text: w1, w2 … — one for each parameter."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> str:
        self.count += 1
        return f"w{self.count}"


class Poisoned(Words):
    """Counting text with one poisoned word."""

    def __init__(self, at: int, word: str) -> None:
        super().__init__()
        self.at, self.word = at, word

    def __call__(self) -> str:
        text = super().__call__()
        return self.word if self.count == self.at else text
