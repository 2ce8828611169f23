"""What is printed: XML and plain text, made by pure functions, value in and string out.

Printing a step needs ``xml`` or ``text`` alone, so nothing is loaded here until a formatter is asked for by name.
"""

from __future__ import annotations

from skills.lib.blocks import formatters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.blocks.formatters.banners import format_progress, format_qr_banner, format_state_banner
    from skills.lib.blocks.formatters.dispatch import (
        format_handover,
        format_parallel_dispatch,
        format_subagent_dispatch,
        format_template_dispatch,
    )
    from skills.lib.blocks.formatters.evidence import (
        format_evidence,
        format_factored_verification_rationale,
        format_findings,
        format_open_question,
        format_verification_questions,
    )
    from skills.lib.blocks.formatters.gates import (
        format_gate_step,
        format_orchestrator_action,
        format_post_qr_routing,
        format_qr_file_output,
    )
    from skills.lib.blocks.formatters.guidance import (
        format_checklist,
        format_constraints,
        format_current_action,
        format_decision_table,
        format_examples,
        format_expected_output,
        format_forbidden,
        format_stop_condition,
        format_terms,
    )
    from skills.lib.blocks.formatters.record import format_context, format_record_block
    from skills.lib.blocks.formatters.resources import format_output_template, format_read_files, format_resource
    from skills.lib.blocks.formatters.steps import format_invoke_after, format_next_block, format_step_output
    from skills.lib.workflow.formatters import text as text

__all__ = [
    "format_checklist",
    "format_constraints",
    "format_context",
    "format_current_action",
    "format_decision_table",
    "format_evidence",
    "format_examples",
    "format_expected_output",
    "format_factored_verification_rationale",
    "format_findings",
    "format_forbidden",
    "format_gate_step",
    "format_handover",
    "format_invoke_after",
    "format_next_block",
    "format_open_question",
    "format_orchestrator_action",
    "format_output_template",
    "format_parallel_dispatch",
    "format_post_qr_routing",
    "format_progress",
    "format_qr_banner",
    "format_qr_file_output",
    "format_read_files",
    "format_record_block",
    "format_resource",
    "format_state_banner",
    "format_step_output",
    "format_stop_condition",
    "format_subagent_dispatch",
    "format_template_dispatch",
    "format_terms",
    "format_verification_questions",
]


def __getattr__(name: str) -> object:
    found = formatters.find(name) if name in __all__ else None
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found  # the next use finds it at once
    return found


def __dir__() -> list[str]:
    return __all__
