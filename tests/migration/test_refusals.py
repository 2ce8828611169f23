"""What cannot be told from the source is refused, with its line, and never guessed."""

from __future__ import annotations

import pytest

from skills.lib.errors import UsageError
from skills.lib.migration import migrate
from tests.migration.conftest import END, HEAD, MAIN, Refused, source

pytestmark = pytest.mark.req("W-14")
FIRST = (HEAD + MAIN).count("\n") + 1

# A line of main, and what is refused of it.
LINES = {
    "open('log').read()": "a call of `open`",
    "import os; os.remove('x')": "a call of `os.remove`",
    "info['title'] = f'Look at {args.target}'": "the title of step 1 depends on --target",
    "info['actions'] = [args.target]": "action 1 of step 1 depends on --target",
    "info['title'] = sys.argv[0]": "the title of step 1 is no literal",
    "info['title'] = input()": "a call of `input`",
    "info['actions'].append(sys.stdin.read())": "a call of `sys.stdin.read`",
    "info['actions'].pop()": "a call of `info['actions'].pop`",
    "STEPS.update({})": "a call of `STEPS.update`",
    "while step: step -= 1": "`while step: step -= 1`",
    "try: pass\nfinally: pass": "`try: pass finally: pass`",
    "for line in args.target: pass": "a loop over `args.target`",
    "for line in sys.stdin: pass": "a loop over `sys.stdin`",
    "if args.target > 'm': onward = 3": "the condition `args.target > 'm'`",
    "if 'x' in args.target: onward = 3": "the condition `'x' in args.target`",
    "if len(args.target) > 3: onward = 3": "the condition `len(args.target) > 3`",
    "if step == 1 and args.target is None: onward = 3": "step 1 leads on in another way without --target",
    "if str(args.count) == '3': onward = 3": "the condition `str(args.count) == '3'`",
    "if args.other: pass": "`args.other`",
    "info = STEPS[step + 7]": "`STEPS[step + 7]`: there is no 8",
    "onward = 1 / 0": "the condition `onward <= total_steps`",
    "onward = 1 // 0": "`1 // 0`: integer division or modulo by zero",
    "onward = int(args.target)": "the condition `onward <= total_steps`",
    "if step == 2 and args.level == 'low': onward = 2": "step 2 repeats step 2 without a bound",
    "if step == 3: onward = 1": "a loop through step 1 has no bound",
    "if step == 1: onward = 3": "step 2 is never reached",
    "if step == 1: sys.exit(1)": "step 1 ends in an error",
    "if args.level == 'low': raise ValueError": "step 1 ends in an error for --level low",
    "if step == 2: return": "step 2 prints nothing",
    "print('Take care.')": "the text 'Take care.'",
    "print('NEXT: python3 x.py --step 2')": "the text 'NEXT: python3 x.py --step 2'",
    "print('Step', step, args.target)": "the text 'Step 1 …'",
    "print('x', file=sys.stderr)": "a text on standard error",
    "print('x', file=args.log)": "`print('x', file=args.log)`",
    "print(format_step_output(step, 3, 'A', 'B', script='x'))": "step 1 prints a second step",
    "info['actions'] += ['Run x.py --step 2']": "a command in the text of step 1",
    "info['actions'] += ['\\x07']": "step 1: U+0007 at position 0 is a character that XML 1.0 does not have",
    "if args.level == 'low': info['title'] = 'Low'": "what step 1 says depends on --level",
    "lambda: 1": "`lambda: 1`",
    "step = (lambda: 1)()": "`lambda: 1`",
    "global STEPS": "`global STEPS`",
    "def inner(): pass": "`def inner(): pass`",
    "assert helper": "the condition `helper`",
    "args.level = 'low'": "`args.level` is set",
    "parser.add_argument('positional')": "the argument `parser.add_argument('positional')`",
    "parser.add_argument('--n', type=ord)": "the argument `parser.add_argument('--n', type=ord)`",
    "parser.add_argument('--n', nargs='*')": "the argument `parser.add_argument('--n', nargs='*')`",
    "parser.add_argument('--run')": "the parameter --run",
    "if step == 2 and args.count < 3: onward = 2": "the next command of step 2 does not raise --count",
    "if step == 1 and args.count < 3: onward = 3": "the count of --count leads step 1 on, not back",
    "if step == 2 and args.count in (2, 4): onward = 1": "the count of --count in step 2",
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_cannot_be_followed_is_refused(line: str, refused: Refused) -> None:
    found = refused(source(line))
    assert LINES[line] in [one.what for one in found]
    assert all(one.line and one.why and one.do for one in found)


def test_a_refusal_names_the_line_that_is_to_blame(refused: Refused) -> None:
    found = refused(source("pass\ninfo['title'] = f'Look at {args.target}'"))
    assert {one.line for one in found} == {FIRST + 1}
    assert [one.what for one in found] == [f"the title of step {step} depends on --target" for step in (1, 2, 3)]


MODULES = {
    "STEPS[4] = {}": "STEPS is built at run time",
    "STEPS.update({4: {}})": "`STEPS.update({4: {}})` at the module's level",
    "STEPS = dict(STEPS)": "STEPS is built at run time",
    "STEPS = {}": "STEPS is written twice",
    "import os\nHOME = os.getcwd()": "a call of `os.getcwd`",
    "for x in (1, 2): STEPS[x] = {}": "`for x in (1, 2): STEPS[x] = {}` at the module's level",
    "if sys.platform == 'x': STEPS = {}": "`if sys.platform == 'x': STEPS = {}` at the module's level",
    "class Log:\n    print('x')": "`class Log: print('x')` at the module's level",
    "@skill(name='b', total_steps=1)\ndef other(step=None): pass": "a second @skill, main",
}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_that_does_more_than_hold_its_steps_is_refused(module: str, refused: Refused) -> None:
    assert MODULES[module] in [one.what for one in refused(source(module=module + "\n"))]


@pytest.mark.parametrize(
    "old, new, what",
    [
        ('name="legacy"', "name=sys.argv[0]", "a name that is no literal"),
        ("total_steps=3", "total_steps=len(sys.argv)", "total_steps is no literal number"),
        ("@skill(", "@cached\n@skill(", "the decorator `cached`"),
        ("    main()\n", "    main(1)\n", "`if __name__ == '__main__': main(1)` at the module's level"),
        ("    1: {", "    0: {", "STEPS has the key `0`"),
        ("    1: {", "    'a': {", "STEPS has the key `'a'`"),
        ("    1: {", "    2: {", "step 2 is in STEPS twice"),
        ("    3: {", "    9: {", "STEPS has step 9, and total_steps is 3"),
        ("def main", "def main(:", "a syntax error: invalid syntax"),
    ],
)
def test_a_declaration_that_is_no_literal_is_refused(refused: Refused, old: str, new: str, what: str) -> None:
    assert what in [one.what for one in refused(source().replace(old, new))]


def test_what_runs_too_long_is_given_up(refused: Refused) -> None:
    found = refused(source("for x in range(99999):\n    for y in range(99999):\n        z = x"))
    assert "main runs more than 100,000 statements" in [one.what for one in found]


def test_too_many_ways_are_given_up(refused: Refused) -> None:
    flags = "\n".join(f"parser.add_argument('--f{n}', action='store_true')" for n in range(9))
    asked = "\n".join(f"if args.f{n}: pass" for n in range(9))
    assert "step 1 has more than 256 ways through it" in [one.what for one in refused(source(f"{flags}\n{asked}"))]


def test_deep_nesting_is_refused(refused: Refused) -> None:
    assert len(refused(source("x = " + "-" * 5_000 + "1"))) == 1


def test_recursion_is_given_up(refused: Refused) -> None:
    found = refused(source("again(1)", module="def again(n):\n    return again(n)\n"))
    assert "`again(n)`" in [one.what for one in found]


def test_a_count_that_other_steps_raise_is_refused(refused: Refused) -> None:
    end = END.replace("str(onward)]", "str(onward), '--count', str(args.count + 1)]")
    found = refused(source("if step == 2 and args.level == 'low' and args.count < 3: onward = 2", end=end))
    assert [one.what for one in found] == ["the next command of step 1 does not keep --count"]


def test_a_loop_that_is_entered_again_is_refused(refused: Refused) -> None:
    end = END.replace("str(onward)]", "str(onward), '--count', str(args.count + 1 if step == 2 else 1)]")
    inner = "if step == 2 and args.level == 'low' and args.count < 3: onward = 2\n"
    found = refused(source(inner + "if step == 3 and args.level == 'low': onward = 1", end=end), bounds={"3": 2})
    assert "step 2 comes again after step 3" in [one.what for one in found]


@pytest.mark.parametrize(
    "step, what",
    [("9", "--max-iterations 9=2: there is no such step"), ("1", "--max-iterations 1: step 1 decides no loop")],
)
def test_a_bound_without_its_loop_is_refused(refused: Refused, step: str, what: str) -> None:
    assert [one.what for one in refused(source(), bounds={step: 2})] == [what]


GATED = """
from skills.lib.workflow.formatters import format_gate_step, format_step_output
from skills.lib.workflow.types import *

STEPS = {
    1: Step("Work", ["Work."]),
    2: Step("Review", ["Look."], BranchRouting(4, 3)),
    4: Step("End", [], TerminalRouting()),
}


def main():
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=int)
    parser.add_argument("--qr-status", choices=["pass", "fail"])
    args = parser.parse_args()
    if args.step == 3:
        gate = GateConfig("Review", work_step=1, pass_step=4, pass_message="Good")
        print(format_gate_step("x.py", 3, 4, "Gate", QRState(status=args.qr_status), gate))
        return
    print(format_step_output(args.step, 4, script="x.py", **STEPS[args.step].fields()))
"""


@pytest.mark.parametrize(
    "old, new, what",
    [
        ("BranchRouting(4, 3)", "BranchRouting(1, 3)", "the gate 3 does not follow from one review"),
        ('["Work."])', '["Work."], BranchRouting(2, 3))', "the gate 3 does not follow from one review"),
        ("work_step=1", "work_step='a'", "the gate of step 3"),
        ("pass_step=4", "pass_step=8", "step 3 leads to step 8"),
        (
            "    if args.step == 3:",
            "    if args.qr_status == 'fail': return\n    if args.step == 3:",
            "step 1 prints nothing",
        ),
    ],
)
def test_a_gate_that_is_not_understood_is_refused(refused: Refused, old: str, new: str, what: str) -> None:
    assert what in [one.what for one in refused(GATED.replace(old, new))]


@pytest.mark.parametrize("text", ["print('hello')\n", "def main():\n    print('--step')\n", HEAD])
def test_a_source_that_is_no_legacy_skill_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="is no legacy skill script"):
        migrate(text, "legacy")


@pytest.mark.parametrize(
    "line",
    [
        "x = 'a'\nfor n in range(60): x = x + x",
        "x = ['a']\nfor n in range(60): x += x",
        "x = 3\nfor n in range(60): x = x * x",
        "x = 'a'\nfor n in range(60): x = f'{x}{x}'",
        "x = 'a' * 999999999\nprint(x)",
        "x = 'a'.ljust(999999999)\nprint(x)",
        "print(f'{1:>999999999}')",
        "print('{:>999999999}'.format(1))",
        "x = 5 .upper()",
    ],
)
def test_what_would_take_all_memory_or_break_is_refused(line: str, refused: Refused) -> None:
    assert refused(source(line))
