"""Every operator and function of the language, over known values."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.guard.decisions import Allow, Deny
from skills.lib.guard.guard import Guard
from tests.guard.guarded import asked, of_data, value

pytestmark = pytest.mark.req("G-01")

TRUE = [
    "1 + 2 * 3 - 4 / 2 == 5",
    "-$n + 3 == 0",
    "'git' + ' push' == 'git push'",
    "'push' in 'git push'",
    "'a' in $map",
    "'z' not in $map",
    "$map.a == 1",
    "$map['b c'] == 2",
    "$list[0] == 3 and $list[-1] == 1",
    "$nested.list[1].class == 'x'",
    "2 in [v for v in $list]",
    "sum(v for v in $list if v > 1) == 5",
    "sum($list) == 6 and sum([]) == 0",
    "len($list) == 3 and len('four') == 4 and len($map) == 2 and len([]) == 0",
    "len(v for v in $list if v > 1) == 2",
    "all(any(w == v for w in $list) for v in $list)",
    "all(key in ['a', 'b c'] for v in $map)",
    "min($list) == 1 and max($list) == 3 and min(4, 2) == 2 and max(v * 2 for v in $list) == 6",
    "max('2024-01-05', '2024-01-10') == '2024-01-10'",
    "abs(-2) == 2 and abs(1.5) == 1.5",
    "number('12') == 12 and number(' -1,200.50 ') == -1200.5 and number(3) == 3",
    "lower('ABC') == 'abc'",
    "starts('refs/heads/main', 'refs/') and not starts('main', 'refs/')",
    "shares(['a', 'b'], ['b']) and not shares(['a'], ['b'])",
    "shares('MWF', 'TF') and not shares([], $list)",
    "keys($map) == ['a', 'b c'] and values($map) == [1, 2]",
    "set([2, 1, 2]) == set([1, 2]) and len(set([1, 1])) == 1",
    "set([1]) <= set([1, 2]) and set([1]) < set([1, 2]) and not set([1, 2]) < set([1, 2])",
    "true == True and null == None and none == null",
    "exists($n) and known($n)",
    "calls('nothing') == 0",
]
DATES = [
    "date('2024-10-12') == date('October 12, 2024')",
    "date('12 Oct 2024') == date('Saturday, October 12th, 2024')",
    "date('2024-10-12T15:30:00') == date('2024-10-12')",
    "date('2024-10-12') - days(90) <= date('2024-10-12T15:00:00') <= date('2024-10-12')",
    "date('2024-03-01') - date('2024-02-28') == days(2)",
    "date('2024-02-28') + days(2) == date('2024-03-01')",
    "date('2024-10-12') > '2024-10-11' and date('2024-10-12') == '2024-10-12'",
    "time('2024-10-12T15:30:00') - time('2024-10-12 15:00') == minutes(30)",
    "time('2024-10-12T15:30:00Z') == time('2024-10-12T17:30:00+02:00')",
    "time('October 12, 2024 at 3:30 pm') == time('2024-10-12T15:30')",
    "clock('2024-10-12T15:30:00') == clock('3:30 pm') and clock('12 am') == clock('00:00')",
    "'09:00' <= clock('9:15') < clock('10:00')",
    "clock('10:00') - clock('09:15') == minutes(45) and clock('09:15') + minutes(45) == clock('10:00')",
    "years('2000-10-13', '2024-10-12') == 23 and years('2024-10-12', '2000-10-12') == 24",
    "weekday('2024-10-12') == 5 and weekday('2024-10-12') == 'Saturday' and weekday('2024-10-12') == 'sat'",
    "weekday('2024-10-11') < 5 and weekday('2024-10-12') in ['Saturday', 'Sunday']",
    "overlap('09:00-10:00', '09:30-11:00') and not overlap('09:00-10:00', '10:00-11:00')",
    "overlap('9:00 am - 10:00 am', ['07:00-08:00', '09:59-12:00'])",
    "date('2024-1-5') == date('2024/01/05')",
    "time('14:30') == clock('2:30 pm') and time('2024-10-12T21:00:00') <= time('22:00')",
    "days(1) > minutes(60) and days(2) / 2 == days(1)",
]
ARGUMENTS = {
    "n": 3,
    "list": [3, 2, 1],
    "map": {"a": 1, "b c": 2},
    "nested": {"list": [{}, {"class": "x"}]},
}


@pytest.mark.parametrize("need", TRUE + DATES)
def test_true(need: str) -> None:
    assert value(need, arguments=ARGUMENTS) == "TRUE"


@pytest.mark.parametrize(
    "call",
    [
        *("len(x) == 1", "sum(x) == 1", "min(x) == 1", "max(1, x) == 1", "abs(x) == 1", "number(x) == 1"),
        *("date(x) == 1", "time(x) == 1", "clock(x) == 1", "weekday(x) == 1", "days(x) == 1", "minutes(x) == 1"),
        *("years(x, '2024-01-01') == 1", "lower(x) == ''", "starts(x, 'a')", "overlap(x, '09:00-10:00')"),
        *("shares(x, [1])", "keys(x) == []", "values(x) == []", "set(x) == set([])", "inside(x, '.')"),
        *("exists(x)", "x + 1 == 1", "-x == 1", "x < 1", "x[$n] == 1", "y[x] == 1"),
    ],
)
def test_of_what_is_not_known_nothing_is_known(call: str) -> None:
    assert value(call, arguments=ARGUMENTS) == "UNKNOWN"


@pytest.mark.parametrize("need", ["'10:30' < date('2024-10-12')", "date('2024-10-12') >= '9 pm'"])
def test_a_time_of_day_and_a_date_have_no_order(need: str) -> None:
    explained = asked(need)
    assert explained.value == "FALSE"
    assert "cannot be compared" in explained.reason
    assert value("'10:30' == date('2024-10-12')") == "FALSE"


def test_known_is_false_of_what_is_not_known() -> None:
    assert value("known(x)") == "FALSE"


def test_a_path_inside_the_project(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "out").symlink_to("/etc")
    policy = of_data(
        params={"worktree": "."},
        tools={"remove": {"needs": ["all(inside(p, %worktree) for p in $paths)", "len($paths) > 0"]}},
    )
    guard = Guard([policy], folder=str(tmp_path))
    for inside in (["sub"], ["sub/new/file"], [str(tmp_path / "sub")], ["sub/../other", "."]):
        assert isinstance(guard.decide("remove", {"paths": inside}), Allow), inside
    outside: list[list[object]] = [
        [],
        ["/etc/passwd"],
        ["sub", ".."],
        ["out/passwd"],
        ["sub/../../x"],
        [f"{tmp_path}x"],
        [""],
        [5],
    ]
    for paths in outside:
        assert isinstance(guard.decide("remove", {"paths": paths}), Deny), paths


def test_keys_that_are_numbers_are_those_of_json() -> None:
    tools = {
        "list": {"shows": {"orders": "result"}},
        "cancel": {"needs": ["orders[$id].open"]},
    }
    guard = Guard([of_data(tools=tools)])
    guard.learn("list", {}, True, '{"17": {"open": true}}')
    assert isinstance(guard.decide("cancel", {"id": 17}), Allow)
    assert isinstance(guard.decide("cancel", {"id": "17"}), Allow)
    assert isinstance(guard.decide("cancel", {"id": 18}), Deny)
    assert isinstance(guard.decide("cancel", {"id": [17]}), Deny)
