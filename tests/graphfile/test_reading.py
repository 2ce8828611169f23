"""workflow.yaml: what it says, and what is refused with its line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skills.lib.graphfile.compiling import GraphFile
from skills.lib.model.requirements import Artifact, Command, Field
from skills.lib.model.types import Dispatch, Gate, Outcome, Person

Compile = Callable[..., GraphFile]
Problems = Callable[..., list[str]]

HEAD = "name: tea-time\nsteps:\n"
ONE = HEAD + "  boil:\n    title: Boil\n"


def test_what_is_left_out_is_the_next_step_and_the_section_of_the_steps_name(compiled: Compile) -> None:
    yaml = HEAD + "  boil:\n  pour:\n"
    texts = "## boil\n\nBoil.\n\n## boil (forbidden)\n\nDo not leave.\nDo not sing.\n\n## pour\nPour.\n\n"
    texts += "## closing\nDrink.\n"
    workflow = compiled(yaml, texts).workflow
    boil, pour = workflow.steps
    assert (boil.next, pour.next) == ({Outcome.OK: "pour"}, {Outcome.OK: None})
    assert (boil.actions, pour.actions, workflow.closing) == (("Boil.",), ("Pour.",), "Drink.")
    assert boil.forbidden == ("Do not leave.", "Do not sing.")


def test_every_kind_of_requirement_is_read(compiled: Compile) -> None:
    yaml = (
        ONE
        + """    do: Boil.
    requires:
      - kind: {choices: [yes, no], help: "said, not shown"}
      - note:
      - {field: run, type: int, minimum: 1, maximum: 2.5}
      - {file: "{note}", schema: {type: object, minProperties: 1, "1": {const: "1"}}}
      - {run: [python3, $common, "{run}"], timeout: 30, records: told, may_fail: true}
lists:
  common: [-m, tea]
"""
    )
    (step,) = compiled(yaml).workflow.steps
    assert step.requires == (
        Field("kind", choices=("yes", "no"), help="said, not shown"),
        Field("note"),
        Field("run", "int", minimum=1, maximum=2.5),
        Artifact("{note}", {"type": "object", "minProperties": 1, "1": {"const": "1"}}),
        Command(["python3", "-m", "tea", "{run}"], 30, records="told", may_fail=True),
    )


def test_a_person_a_gate_and_sub_agents_are_read(compiled: Compile) -> None:
    yaml = (
        HEAD
        + """  ask:
    person: {question: "Milk?", choices: {yes: ok, no: fail}, at_terminal: true}
    next: {ok: taste, fail: null}
  taste:
    dispatch:
      agent: quality-reviewer
      task: Taste {target}.
      targets: [cup, pot]
      checkpoint: taste
      cap: 3
      checks: [{kind: heat, severity: MUST, text: it is hot, over: "{target}"}]
  judge:
    gate: {checkpoint: taste, bound: 2}
    next: {ok: end, fail: taste}
"""
    )
    ask, taste, judge = compiled(yaml).workflow.steps
    assert ask.handler == Person("Milk?", {"yes": Outcome.OK, "no": Outcome.FAIL}, True)
    assert isinstance(taste.handler, Dispatch)
    assert (taste.handler.targets, taste.handler.cap, taste.handler.checks[0].kind) == (("cup", "pot"), 3, "heat")
    assert judge.handler == Gate("taste", 2)
    assert judge.next == {Outcome.OK: None, Outcome.FAIL: "taste"}


@pytest.mark.parametrize(
    "yaml, told",
    [
        ("", "workflow.yaml:1: the file is empty -> write its fields"),
        ("- a\n", "workflow.yaml:1: the file is not a mapping of fields -> write one `field: text` per line"),
        ("name: x\nname: y\n", "workflow.yaml:2: the file has the key 'name' twice -> keep one of them"),
        ("name: &a x\n", "workflow.yaml:1: the file has an anchor (&) -> write the value out"),
        ("name: *a\n", "workflow.yaml:1: the file has an alias (*) -> write the value out"),
        ("name: !!str x\n", "workflow.yaml:1: the file has a tag (!) -> leave it out: all values are text"),
        ("a: {x: y}\n<<: z\n", "workflow.yaml:2: the file has a merge key (<<) -> write the fields out"),
        ("name: x\n---\nname: y\n", "workflow.yaml:2: the file holds a second document -> keep one mapping"),
        ("name: [x\n", "workflow.yaml:2: expected ',' or ']', but got '<stream end>'"),
        (
            "name: x\n title: y\n",
            "workflow.yaml:2: the file has a ':' where no key can stand -> indent the line as those",
        ),
        ("steps:\n\ta: x\n", "workflow.yaml:2: the file is indented by a tab -> indent by blanks"),
        (
            "a:\n  - x\n b: y\n",
            "workflow.yaml:3: the file has a line that is indented otherwise than those beside it ->",
        ),
        (
            'steps:\n  a:\n    outcomes:\n      ok: "b" in c\n',
            "workflow.yaml:4: the file has more text after one in quotes or brackets -> put quotes of the other kind "
            "around the whole: '\"a\" in b'",
        ),
        (
            'outcomes: {ok: "b" in c}\n',
            "workflow.yaml:1: the file has more text after one in quotes or brackets ->",
        ),
        ("name: x\ntitle\n", "workflow.yaml:3: the file has a line that is no `field: value` -> put a ':' and a blank"),
        (b"name: \x00\n", "workflow.yaml:1: holds the control character U+0000"),
        ("name: x\n".encode("utf-16"), "workflow.yaml:1: is not UTF-8 text -> save the file as UTF-8"),
        (b"name: \xff\n", "workflow.yaml:1: is not UTF-8 text -> save the file as UTF-8"),
        ('name: "\\ud800"\n', "workflow.yaml:1: the file holds the control character U+D800 -> leave it out"),
        ("name: " + "[" * 20 + "]" * 20, "workflow.yaml:1: the file is nested deeper than 16 levels"),
    ],
)
def test_what_is_no_strict_yaml_is_refused_with_its_line(problems: Problems, yaml: str | bytes, told: str) -> None:
    (found,) = problems(yaml)
    assert found.replace("the file expected", "expected").startswith(told)


def test_a_byte_order_mark_and_other_line_ends_change_nothing(compiled: Compile) -> None:
    yaml = ONE + "    do: Boil.\n"
    plain = compiled(yaml).workflow.fingerprint
    assert compiled(b"\xef\xbb\xbf" + yaml.replace("\n", "\r\n").encode()).workflow.fingerprint == plain


def test_a_file_that_is_too_long_is_refused_unread(problems: Problems) -> None:
    assert problems(b"a: b\n" * 2_000_000) == [
        "workflow.yaml:1: is larger than 64,000 bytes -> keep long texts in workflow.md beside it"
    ]


def test_all_problems_are_told_at_once_with_the_nearest_name(problems: Problems) -> None:
    yaml = """name: tea-time
titel: Tea
steps:
  boil:
    do: Boil.
    requires:
      - kind: {type: txt}
      - cups: {minimum: many, required: yes}
      - run: [$commn]
    at_limit: Not OK
  pour:
    nxt: boil
lists:
  common: [a]
"""
    assert problems(yaml) == [
        "workflow.yaml:2: a workflow has no 'titel'; did you mean title?",
        "workflow.yaml:7: the type 'txt' is none; did you mean text?",
        "workflow.yaml:8: minimum of the field cups is a number, not 'many'",
        "workflow.yaml:8: required of the field cups is true or false, not 'yes' -> write true",
        "workflow.yaml:9: the list 'commn' is none; did you mean common?",
        "workflow.yaml:10: step 'boil' at_limit: 'Not OK' is not an Outcome: use one of ok, fail, skip, iterate, "
        "default, or a word of its own (a-z, 0-9 and -, a letter first, at most 24 characters)",
        "workflow.yaml:11: the step pour says nothing -> write a section `## pour` in workflow.md, or do: and the text",
        "workflow.yaml:12: the step pour has no 'nxt'; did you mean next?",
    ]


def test_a_key_that_is_indented_as_its_step_is_told(problems: Problems) -> None:
    assert problems(HEAD + "  boil:\n  title: Boil\n  needs: [guest]\n", "## boil\nBoil.\n") == [
        "workflow.yaml:4: 'title' stands beside the steps, not in one -> indent it more than its step's id",
        "workflow.yaml:5: 'needs' stands beside the steps, not in one -> indent it more than its step's id",
    ]


def test_a_step_and_a_section_that_lack_each_other_are_told(problems: Problems) -> None:
    assert problems(HEAD + "  boil:\n") == [
        "workflow.yaml:3: the step boil says nothing -> write a section `## boil` in workflow.md, or do: and the text"
    ]
    assert problems(ONE + "    do: Boil.\n    repeat: [{section: again}]\n", "\n## again\n\n## biol\nBoil.\n") == [
        "workflow.md:4: no step uses the section 'biol'; did you mean boil? -> name it as a step: `## id`, "
        "`## id (forbidden)`, `## id (repeat)`, `## closing`"
    ]


def test_a_comma_in_braces_is_told_as_what_it_is(problems: Problems) -> None:
    (told,) = problems(ONE + "    requires:\n      - cups: {help: how many, as counted}\n    do: x\n")
    assert told == (
        "workflow.yaml:6: the field cups has no 'as counted' -> in { } and [ ] a text with a comma stands in quotes"
    )


def test_a_draft_is_no_workflow(problems: Problems) -> None:
    (told,) = problems("draft: true\n" + ONE)
    assert told == (
        "workflow.yaml:1: this is a draft that no person has accepted -> read it and correct it, then: lockstep adopt "
        "skills/tea-time --accept"
    )
