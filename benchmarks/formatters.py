"""What a formatter costs, beside an f-string with xml.sax.saxutils.escape that says the same."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from lxml import etree

from benchmarks.report import Cell, Figures
from benchmarks.timing import medians
from skills.lib.workflow.formatters import format_forbidden, format_state_banner, format_step_output

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.options import Options

RULES = ["Do not modify <other> files.", "Do not change the API & its contracts.", "Do not run anything that deploys."]
ACTIONS = [f"{at}. Look at part {at} & note what is < 3, with its place." for at in range(1, 21)]
ROUNDS, QUICK_ROUNDS, CALLS = 41, 5, 500


def figures(options: Options) -> list[Figures]:
    """Time three formatters, of a line, a block and a whole step."""
    rows: list[list[Cell]] = []
    with options.progress("formatters", len(PAIRS)) as tick:
        for name, (ours, plain) in PAIRS.items():
            if _canonical(ours()) != _canonical(plain()):
                raise RuntimeError(f"{name} and its plain form do not say the same:\n{ours()}\n{plain()}")
            took = medians({"ours": ours, "plain": plain}, QUICK_ROUNDS if options.quick else ROUNDS, CALLS)
            rows.append([name, took["ours"] * 1000, took["plain"] * 1000, took["ours"] / took["plain"]])
            tick()
    notes = [
        "Both print the same document for a parser. The plain form checks nothing: not one character, no argument."
    ]
    return [Figures("Formatters", ["formatter", "microseconds", "f-string and escape", "ratio"], rows, notes)]


def banner() -> str:
    """A state banner."""
    return format_state_banner("design & build", 2, "re-verify")


def plain_banner() -> str:
    """The same by hand."""
    checkpoint, iteration, mode = "design & build", 2, "re-verify"
    text = (
        f"Checkpoint {checkpoint}, iteration {iteration}. "
        "The last review found issues: check the work again with fresh eyes."
    )
    return (
        f'<state_banner checkpoint={quoteattr(checkpoint)} iteration="{iteration}" mode={quoteattr(mode)}>'
        f"{escape(text)}</state_banner>"
    )


def forbidden() -> str:
    """A list of what is forbidden."""
    return format_forbidden(RULES)


def plain_forbidden() -> str:
    """The same by hand."""
    rules = "\n".join(f"  <rule>{escape(rule)}</rule>" for rule in RULES)
    return f"<FORBIDDEN>\n{rules}\n</FORBIDDEN>"


def step() -> str:
    """A whole step."""
    return format_step_output(2, 5, "Look & note", ACTIONS, script="script.py")


def plain_step() -> str:
    """The same by hand."""
    do = "\n".join(escape(action) for action in ACTIONS)
    command = "python3 script.py --step 3 --total-steps 5"
    return (
        f'<step number="2" of="5" title={quoteattr("Look & note")}>\n  <STATE>Step 2 of 5.</STATE>\n'
        f'  <DO>\n{do}\n  </DO>\n  <NEXT required="true">{escape(command)}</NEXT>\n</step>'
    )


PAIRS: dict[str, tuple[Callable[[], str], Callable[[], str]]] = {
    "format_state_banner, one line": (banner, plain_banner),
    "format_forbidden, three rules": (forbidden, plain_forbidden),
    "format_step_output, 20 actions": (step, plain_step),
}


def _canonical(text: str) -> str:
    return etree.tostring(etree.fromstring(text), method="c14n2").decode()
