"""Whether a prompt of the person has the answer that an agent passes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib.engine import people
from skills.lib.model.run import Run
from tests.fixtures.worlds import EmptyWorld

pytestmark = pytest.mark.req("W-24")
CHOICES = ("accept", "revise", "Abandon it", "abandon it not")
# Text in which no choice can stand, for the letters of each are missing.
OTHER = st.text(st.characters(exclude_characters="aAeEnN", exclude_categories=["Cs"]), max_size=40).filter(
    lambda text: not set(text.casefold()) & set("aen")
)
# What may stand beside a word.
GAP = st.sampled_from([" ", "\n", ", ", ". ", " (", '"', "!", ": "])


class Said(EmptyWorld):
    """A proof with these prompts."""

    def __init__(self, *prompts: str) -> None:
        self.said = list(prompts)

    def prompts(self) -> list[str]:
        return self.said


def heard(answer: str, *prompts: str, choices: tuple[str, ...] = CHOICES) -> str:
    return people.prompt_with(Run(id="a", question={"choices": list(choices)}), answer, Said(*prompts))


@given(st.sampled_from(CHOICES), OTHER, GAP, GAP, OTHER, st.sampled_from([str.upper, str.lower, str.title]))
def test_a_choice_counts_wherever_it_stands_as_a_word_and_in_any_case(
    choice: str, before: str, left: str, right: str, after: str, case: Callable[[str], str]
) -> None:
    prompt = f"{before}{left}{case(choice)}{right}{after}"
    assert heard(choice, prompt) == prompt
    assert [other for other in CHOICES if other != choice and heard(other, prompt)] == []


@given(st.lists(OTHER, max_size=3), st.sampled_from(CHOICES))
def test_prompts_that_name_no_choice_count_for_none(prompts: list[str], choice: str) -> None:
    assert heard(choice, *prompts) == ""


@given(st.sampled_from(CHOICES), st.characters(categories=["Ll", "Lu", "Nd"]), st.booleans())
def test_a_part_of_a_longer_word_does_not_count(choice: str, char: str, behind: bool) -> None:
    assert heard(choice, f"{choice}{char}" if behind else f"{char}{choice}") == ""


@given(st.lists(OTHER, max_size=3), st.text(min_size=1, max_size=60))
def test_an_answer_in_free_words_never_counts_without_a_prompt_that_has_it(prompts: list[str], answer: str) -> None:
    found = heard(answer, *prompts, choices=())
    plain = [" ".join(text.casefold().split()).rstrip(".!") for text in (answer, found)]
    assert found == "" or plain[0] in plain[1]
