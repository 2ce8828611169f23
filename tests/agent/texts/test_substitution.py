"""Variables in the texts of a skill are replaced once; what a value brings is not looked at again."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skills.lib.agent.prose.substitution import names_arguments, substituted, values

GIVEN = {
    "SESSION_ID": "k3f9q2mx",
    "SKILL_DIR": "/skills/pdf",
    "WORKSPACE": "/project",
    "USER": "alice",
    "DATE": "2026-01-26",
    "ARGUMENTS": "data.csv --format json",
    "1": "data.csv",
    "2": "--format",
    "3": "json",
}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Process file: $ARGUMENTS", "Process file: data.csv --format json"),
        ("${WORKSPACE}/$ARGUMENTS.processed", "/project/data.csv --format json.processed"),
        ("${ARGUMENTS}", "data.csv --format json"),
        ("python ${SKILL_DIR}/scripts/x.py --input $1", "python /skills/pdf/scripts/x.py --input data.csv"),
        ("--session ${SESSION_ID} by ${USER}, ${DATE}", "--session k3f9q2mx by alice, 2026-01-26"),
        ("$1.html, ($2), $3.", "data.csv.html, (--format), json."),
        ("it costs $10, or $1.50, or $1,000", "it costs $10, or $1.50, or $1,000"),
        (
            r"\$ARGUMENTS is what \${USER} said, \$1 too, \$HOME not",
            r"$ARGUMENTS is what ${USER} said, $1 too, \$HOME not",
        ),
        ("awk '{print $1}' $1", "awk '{print $1}' data.csv"),
        ("""'{"id": "${SESSION_ID}"}'""", """'{"id": "k3f9q2mx"}'"""),
        ("don't use $1, it's old", "don't use data.csv, it's old"),
        ("$ARGUMENTS_OLD $arguments $HOME ${} $0 $(date)", "$ARGUMENTS_OLD $arguments $HOME ${} $0 $(date)"),
    ],
)
def test_each_variable_is_replaced_by_its_value(text: str, expected: str) -> None:
    assert substituted(text, GIVEN).text == expected
    assert substituted(text, GIVEN).unknown == ()


def test_a_variable_without_a_value_stays_and_is_named_once() -> None:
    found = substituted("${NOPE} and ${USER} and ${NOPE} and $7", GIVEN)
    assert found.text == "${NOPE} and alice and ${NOPE} and $7"
    assert found.unknown == ("${NOPE}", "$7")


def test_what_a_value_brings_is_not_expanded_again() -> None:
    hostile = {"ARGUMENTS": "${USER} $1 !`id` \\1 \\g<0>", "1": "$ARGUMENTS", "USER": "${DATE}", "DATE": "never"}
    assert substituted("$ARGUMENTS|$1|${USER}", hostile).text == "${USER} $1 !`id` \\1 \\g<0>|$ARGUMENTS|${DATE}"


def test_the_values_of_a_run() -> None:
    before = datetime.date.today()
    found = values("/skills/pdf", "/project", "k3f9q2mx", "'a b.csv' --to json")
    after = datetime.date.today()
    assert found["CLAUDE_SESSION_ID"] == found["SESSION_ID"] == "k3f9q2mx"
    assert (found["SKILL_DIR"], found["WORKSPACE"]) == ("/skills/pdf", "/project")
    assert found["ARGUMENTS"] == "'a b.csv' --to json"
    assert [found[name] for name in ("1", "2", "3")] == ["a b.csv", "--to", "json"]
    assert "4" not in found
    assert found["USER"]
    assert str(before) <= found["DATE"] <= str(after)


def test_arguments_with_an_open_quote_are_split_at_blanks() -> None:
    assert values("/s", "/w", "r", "don't stop")["2"] == "stop"


def test_at_most_nine_words_have_a_variable() -> None:
    assert "10" not in values("/s", "/w", "r", "a b c d e f g h i j k")


@pytest.mark.parametrize(
    "text, expected",
    [("a $ARGUMENTS", True), ("${ARGUMENTS}", True), (r"\$ARGUMENTS", False), ("$ARGUMENTSX $1", False)],
)
def test_a_text_that_names_the_arguments_is_known(text: str, expected: bool) -> None:
    assert names_arguments(text) is expected


@given(st.text("$\\{}A1'\n ${USER}$ARGUMENTS", max_size=60))
@example("$" * 30 + "'" * 30)
def test_a_text_without_known_variables_stays_as_it_is(text: str) -> None:
    assert substituted(text, {}).text == text
