"""A matrix is thinned to rows in which all pairs meet."""

from __future__ import annotations

from itertools import product

from tests.extent import pairwise


def test_every_two_values_of_two_columns_meet_in_few_rows() -> None:
    every = list(product("abcd", (1, 2), (True, False)))
    found = pairwise(every)
    assert set(found) < set(every)
    assert {(row[0], row[1]) for row in found} == set(product("abcd", (1, 2)))
    assert {(row[0], row[2]) for row in found} == set(product("abcd", (True, False)))
    assert {(row[1], row[2]) for row in found} == set(product((1, 2), (True, False)))
    assert len(found) == 8


def test_what_is_alone_in_meeting_a_value_stays() -> None:
    assert pairwise([("a", 1, "x"), ("b", 2, "y")]) == [("a", 1, "x"), ("b", 2, "y")]
