from __future__ import annotations

import inspect
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from syrupy.assertion import SnapshotAssertion

import skills.lib.workflow.formatters as formatters
from skills.lib.errors import UsageError
from skills.lib.testing.blocks import parse
from skills.lib.workflow.formatters import xml
from skills.lib.workflow.types import (
    AgentRole,
    BranchRouting,
    Dispatch,
    GateConfig,
    QRState,
    Rendered,
    Step,
    TerminalRouting,
)
from tests.blocks.samples import DOCUMENTS, FRAGMENTS, SECTIONS, Poisoned, Words, in_document
from tests.blocks.strategies import ILLEGAL, TEXTS

ALL = {**FRAGMENTS, **SECTIONS, **DOCUMENTS}
DOCS = Path(__file__).parents[2] / "docs" / "formatters.md"


def shown(root: etree._Element) -> list[str]:
    """Every text and attribute of a document, and every argument of its commands."""
    found = []
    for element in root.iter():
        text = "".join(map(str, element.itertext()))
        found += [text, *map(str, element.attrib.values())]
        if element.tag in ("NEXT", "command", "check"):
            found += shlex.split(element.get("command", text))
    return found


@pytest.mark.req("W-06")
def test_at_least_26_formatters_each_sampled_and_documented() -> None:
    assert formatters.__all__ == sorted(ALL)
    assert len(formatters.__all__) >= 26
    sections = [line[5:-1] for line in DOCS.read_text(encoding="utf-8").split("\n") if line.startswith("### `")]
    assert sorted(name for name in sections if not name.startswith("format_text_")) == formatters.__all__


@pytest.mark.req("W-06")
@pytest.mark.parametrize("name", formatters.__all__)
def test_every_formatter_is_documented_and_found_from_both_modules(name: str) -> None:
    function = getattr(formatters, name)
    assert inspect.getdoc(function)
    assert getattr(xml, name) is function
    assert type(ALL[name](Words())) is Rendered


@pytest.mark.req("W-06")
@pytest.mark.parametrize("name", sorted(ALL))
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_hostile_text_in_every_parameter_stays_text(name: str, data: st.DataObject) -> None:
    given_texts: list[str] = []
    # A word in braces stands for a value in a template and in a checked command: it is not shown, as it should be.
    holds_values = name in ("format_template_dispatch", "format_record_block")
    texts = TEXTS.filter(lambda text: not re.search(r"\{[^}]*\}", text)) if holds_values else TEXTS

    def hostile() -> str:
        given_texts.append(data.draw(texts))
        return given_texts[-1]

    root = parse(in_document(name, ALL[name](hostile)))
    harmless = parse(in_document(name, ALL[name](Words())))
    assert [element.tag for element in root.iter()] == [element.tag for element in harmless.iter()]
    found = shown(root)
    for text in given_texts:
        wanted = text.upper() if name == "format_qr_banner" else text
        assert any(wanted in piece for piece in found)


@pytest.mark.req("W-06")
@pytest.mark.parametrize("name", sorted(ALL))
@settings(max_examples=10, deadline=None)
@given(ILLEGAL)
def test_a_character_that_xml_does_not_have_is_refused_in_every_parameter(name: str, character: str) -> None:
    words = Words()
    ALL[name](words)
    for at in range(1, words.count + 1):
        with pytest.raises(UsageError, match=f"U\\+{ord(character):04X} at position"):
            ALL[name](Poisoned(at, f"a{character}b"))


@pytest.mark.req("W-06")
@pytest.mark.parametrize("name", sorted(ALL))
def test_output_of_every_formatter(name: str, snapshot: SnapshotAssertion) -> None:
    assert str(ALL[name](Words())) == snapshot


def test_a_block_given_as_quoted_text_is_shown_and_not_nested() -> None:
    block = formatters.format_forbidden("Never")
    for output in (
        formatters.format_resource("name", block),
        formatters.format_output_template(block),
        formatters.format_examples(good=block),
        formatters.format_context({"name": block}),
        formatters.format_subagent_dispatch("explore", free_form=True, task=block),
    ):
        assert "&lt;FORBIDDEN>" in output
    assert "<FORBIDDEN>" in formatters.format_current_action(block)


@pytest.mark.req("W-04")
def test_script_mode_prints_a_command_and_free_form_mode_a_task() -> None:
    script = formatters.format_subagent_dispatch("explore", "/x/explore.py", 1, 2, {"two_words": "a b"})
    assert "<command>python3 /x/explore.py --step 1 --total-steps 2 '--two-words=a b'</command>" in script
    assert "<CONTEXT>" not in script
    free = formatters.format_subagent_dispatch(
        "explore", context_vars={"two words": "a b"}, free_form=True, task="Look"
    )
    assert '<value name="two words">a b</value>' in free
    assert "<command>" not in free


@pytest.mark.req("W-04")
def test_a_template_reaches_each_target_in_task_and_command() -> None:
    block = formatters.format_template_dispatch(
        "explore", ["a b", "$(c)"], "See {target}", "./x.py", context_vars={"dimension": "<{target}>"}
    )
    assert block.count("<child ") == 2
    assert "<task>See $(c)</task>" in block
    assert "<![CDATA[python3 ./x.py --step 1 '--dimension=<$(c)>']]>" in block


@pytest.mark.req("W-04")
@pytest.mark.parametrize(
    "dispatch, text",
    [
        (
            Dispatch("explore", "x.py", params={"scope": "src"}),
            "python3 x.py --step 1 --scope=src",
        ),
        (Dispatch("explore", task="Look.", context="Known."), "Known.\n\nLook."),
        (Dispatch("explore", task="See {target}", targets=["a"]), "See a"),
        (Dispatch("developer", tasks=["one", "two"], context="Known."), "Known."),
    ],
)
def test_a_step_prints_its_dispatch(dispatch: Dispatch, text: str) -> None:
    step = Step(title="T", actions="Wait for them.", routing=TerminalRouting(), dispatch=dispatch)
    root = parse(formatters.format_step_output(step=1, total=3, **step.fields()))  # type: ignore[arg-type]
    fragment = root.find("DO/DISPATCH")
    assert fragment is not None
    assert text in shown(fragment)


@pytest.mark.req("W-10")
def test_a_fail_leads_back_with_the_iteration_grown_and_a_pass_leads_on() -> None:
    gate = GateConfig("Plan", 5, 8, "Plan approved", fix_target=AgentRole.DEVELOPER)
    failed = parse(formatters.format_gate_step("p.py", 7, 13, "Gate", QRState(2, failed=True, status="fail"), gate))
    passed = parse(formatters.format_gate_step("p.py", 7, 13, "Gate", QRState(2, status="pass"), gate))
    asking = parse(formatters.format_gate_step("p.py", 7, 13, "Gate", QRState(2, failed=True), gate))
    assert (
        failed.findtext("NEXT") == "python3 p.py --step 5 --total-steps 13 --qr-iteration=3 --qr-fail --qr-status=fail"
    )
    assert "dispatch the developer to fix every finding" in (failed.findtext("DO") or "")
    assert passed.findtext("NEXT") == "python3 p.py --step 8 --total-steps 13"
    assert passed.findtext("DO") == "\nPlan approved\n  "
    assert asking.findtext("NEXT") == (
        "python3 p.py --step 7 --total-steps 13 --qr-iteration=2 --qr-fail --qr-status=FILL_qr_status"
    )
    assert [root.get("verdict") for root in (failed, passed, asking)] == ["fail", "pass", "none"]


def test_a_gate_that_passes_at_the_end_prints_no_command() -> None:
    gate = GateConfig("Docs", 11, None, "Docs approved", self_fix=True)
    root = parse(formatters.format_gate_step("p.py", 13, 13, "Gate", QRState(status="pass"), gate))
    assert root.find("NEXT") is None
    assert root.findtext("DO") == "\nDocs approved\nThis was the last step.\n  "


def test_the_next_command_follows_from_the_routing() -> None:
    def commands(**given: object) -> list[str]:
        root = parse(formatters.format_step_output(total=3, title="T", script="s.py", **given))  # type: ignore[arg-type]
        return [element.text or "" for element in root.iter("NEXT", "command")]

    assert commands(step=1) == ["python3 s.py --step 2 --total-steps 3"]
    assert commands(step=3) == []
    assert commands(step=1, routing=TerminalRouting()) == []
    assert commands(step=1, options={"plan_file": "a b"}) == ["python3 s.py --step 2 --total-steps 3 '--plan-file=a b'"]
    assert commands(step=1, routing=BranchRouting(3, 1)) == [
        "python3 s.py --step 3 --total-steps 3 --qr-status=pass",
        "python3 s.py --step 1 --total-steps 3 --qr-status=fail",
    ]
    assert commands(step="a", next_command=["x", "b c"]) == ["x 'b c'"]


@pytest.mark.parametrize(
    "call, what",
    [
        (lambda: formatters.format_step_output(4, 3, "T"), "step: 4 is past the last of 3"),
        (lambda: formatters.format_step_output(0, 3, "T"), "step: 0 is not a whole number of 1 or more"),
        (lambda: formatters.format_step_output("", 3, "T"), "step: an empty text is not a step id"),
        (lambda: formatters.format_step_output(1, 3, "T"), "the next command is not known"),
        (lambda: formatters.format_step_output("a", 3, "T", script="s.py"), "step 'a' has no number to count on from"),
        (lambda: formatters.format_step_output(1, 3, "T", script="-c"), "script: '-c' is not the path of a script"),
        (lambda: formatters.format_next_block("make test"), "command: 'make test' is not a list of arguments"),
        (lambda: formatters.format_next_block([]), "command: [] is not a list of arguments"),
        (lambda: formatters.format_forbidden([]), "rules is empty"),
        (lambda: formatters.format_examples(), "examples: neither a good nor a bad one is given"),
        (lambda: formatters.format_context({}), "values is empty"),
        (lambda: formatters.format_terms({}), "terms is empty"),
        (lambda: formatters.format_read_files({}), "files is empty"),
        (lambda: formatters.format_decision_table([]), "rows is empty"),
        (lambda: formatters.format_record_block([]), "requirements is empty"),
        (lambda: formatters.format_invoke_after({}), "next is empty"),
        (lambda: formatters.format_invoke_after({"ok": 1}, {"no": "x"}), "outcome 'no' has no step to lead to"),
        (lambda: formatters.format_state_banner("c", 0), "iteration: 0 is not a whole number of 1 or more"),
        (
            lambda: formatters.format_findings({"F": ("HUGE", "x")}),
            "finding F: 'HUGE' is not a Severity: use one of MUST, SHOULD, COULD",
        ),
        (lambda: formatters.format_subagent_dispatch("explore"), "script mode without a script"),
        (lambda: formatters.format_subagent_dispatch("explore", free_form=True), "a free-form dispatch has no task"),
        (
            lambda: formatters.format_subagent_dispatch("explore", "x", context_vars={"a b": ""}),
            "option: 'a b' is not a name",
        ),
        (
            lambda: formatters.format_subagent_dispatch("explore", "x", context_vars={"step": "9"}),
            "option: --step is set by the formatter",
        ),
        (lambda: formatters.format_template_dispatch("explore", ["a"]), "a template dispatch has nothing to hand out"),
        (
            lambda: formatters.format_step_output(1, 1, "T", dispatch=Dispatch("explore", targets="survey.areas")),
            "dispatch targets: 'survey.areas' reads what a run recorded, which a bare step does not have",
        ),
    ],
)
def test_what_cannot_be_printed_is_refused_by_name(call: object, what: str) -> None:
    with pytest.raises(UsageError) as caught:
        call()  # type: ignore[operator]
    assert caught.value.what == what


def test_a_role_that_does_not_exist_is_refused_with_the_roles() -> None:
    with pytest.raises(
        UsageError, match=r"agent: 'develper' is not a AgentRole: use one of quality-reviewer, developer"
    ):
        formatters.format_parallel_dispatch("develper", ["x"])


@pytest.mark.req("W-12")
def test_nothing_found_is_a_result() -> None:
    assert formatters.format_findings({}) == '<findings count="0"/>'
    assert formatters.format_evidence([]) == '<evidence count="0"/>'


@pytest.mark.req("W-12")
@pytest.mark.parametrize(
    "qr, fresh, printed",
    [
        (QRState(), False, "PLAN REVIEW: Review the work for issues."),
        (QRState(), True, "PLAN REVIEW: Review the work for issues."),
        (
            QRState(2, failed=True, status="fail"),
            True,
            "PLAN REVIEW (Iteration 2, fresh review): Previous review found issues.",
        ),
        (QRState(2, failed=True), False, "PLAN REVIEW (Iteration 2): Previous review found issues."),
        (QRState(1, status="fail"), False, "PLAN REVIEW (Iteration 1): Previous review found issues."),
        (QRState(3, status="pass"), False, "PLAN REVIEW (Iteration 3): Previous review passed."),
        (QRState(3), False, "PLAN REVIEW (Iteration 3): Review the work for issues."),
    ],
)
def test_the_review_banner_says_which_review_this_is(qr: QRState, fresh: bool, printed: str) -> None:
    assert formatters.format_qr_banner(qr, "Plan Review", fresh_review=fresh) == printed


@pytest.mark.req("W-22")
@pytest.mark.parametrize(
    "name, source",
    [
        ("format_resource", "Xu et al. 2023"),
        ("format_qr_banner", "Dhuliawala et al. 2023"),
        ("format_factored_verification_rationale", "Dhuliawala et al. 2023"),
        ("format_verification_questions", "Dhuliawala et al. 2023"),
    ],
)
def test_research_is_cited_where_it_is_used(name: str, source: str) -> None:
    assert source in (inspect.getdoc(getattr(formatters, name)) or "")
