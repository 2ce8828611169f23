"""Records a terminal in which an agent is refused twice, as the picture docs/refusal.svg.

The commands run in an empty project. Paths, run ids and times are replaced as on the pages of docs/transcript.py. The
picture shows the lines that a scene names; ``[…]`` replaces the lines between them and for the rest of a long line.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text
from transcript import ELISION, TranscriptError, session

WIDTH = 100
TITLE = "Lockstep: two refusals"
SCRIPT = "<PYTHON> <LOCKSTEP>/skills/problem-analysis/scripts/problem_analysis.py"
NAME = "python3 problem_analysis.py"
RUN = "--run k3f9q2mx --turn 1"


class Scene(NamedTuple):
    """A comment, a command, and how those lines of its arguments and its output begin that the picture shows."""

    comment: str
    command: str
    shown: tuple[str, ...]


FILES = {"shop/cart.py": "import shop.db\n\nTIMEOUT = 30\n"}
SCENES = (
    Scene(
        "# The user asks why the checkout is slow. Step 1 of 5 asks for the problem and its facts.",
        f"{SCRIPT} --step 1",
        ("<step ", "  <STATE>", "3. `facts`", "  <NEXT ", "</step>"),
    ),
    Scene(
        "# The agent skips to the last step. Refused: the graph has no such transition.",
        f"{SCRIPT} --step report {RUN}",
        ("<refused ", "  <STANDS>", "  <WHY>", "  <NEXT ", "</refused>"),
    ),
    Scene("# The agent makes up a fact. Refused: Lockstep reads the file.", "sed -n 3p shop/cart.py", ("TIMEOUT",)),
    Scene(
        "",
        f"""{SCRIPT} --step next {RUN} \\
    --record facts='["F1: it gives up after 5 s (shop/cart.py:3 `TIMEOUT = 5`)"]' \\
    --record problem='A checkout takes 5 s; it should take 1 s.' \\
    --record test='Time a checkout: over 3 s is present, under 1.5 s is gone.' \\
    --record verdict=testable --record question=none""",
        ("    --record facts", "<refused ", "  <WHY>", "shop/cart.py:3:", "</refused>"),
    ),
)
# What is coloured, and how: the later one wins.
STYLES = (
    (r"^#.*", "#56d4dd"),
    (r"^\$ ", "bold #56d364"),
    (r'</?\w+>?|(?<=")>', "#79c0ff"),
    (r'\b\w+="[^"]*"', "#8b949e"),
    (r'</?refused>?|code="[^"]*"', "bold #ff7b72"),
    (r"(?<=<WHY>)[^<]*|^shop/cart.py:3: .*", "bold #e3b341"),
    (re.escape(ELISION), "not bold #8b949e"),
)
THEME = TerminalTheme(background=(22, 27, 34), foreground=(230, 237, 243), normal=[])
# In place of rich's template, which loads a font from the web. Each text has its length, so any monospace font fits.
TEMPLATE = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px;
}}
.{unique_id}-title {{ font-family: sans-serif; font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def picture(_: str) -> str:
    """The recording as SVG; raises TranscriptError if a line that a scene shows is no longer printed."""
    console = Console(
        file=io.StringIO(), record=True, width=WIDTH, force_terminal=True, color_system="truecolor", no_color=False
    )
    for line in lines():
        text = Text(line)
        for pattern, style in STYLES:
            text.highlight_regex(pattern, style)
        console.print(text, highlight=False)
    drawn = console.export_svg(title=TITLE, theme=THEME, code_format=TEMPLATE, unique_id="refusal")
    return "".join(f"{line.strip()}\n" for line in drawn.splitlines() if line.strip())


def lines() -> Iterator[str]:
    """The lines of the terminal: the comment of each scene, its command, and what the command prints."""
    with session() as project:
        for path, content in FILES.items():
            project.write(path, content)
        for at, scene in enumerate(SCENES):
            if scene.comment:
                yield from ["", scene.comment] if at else [scene.comment]
            printed = project.command(f"{scene.command} 2>/dev/null")
            yield from selected([*f"$ {scene.command}".splitlines(), *printed], ("$ ", *scene.shown))


def selected(lines: Iterable[str], shown: Iterable[str]) -> Iterator[str]:
    """The first line that begins with each text of ``shown``, with a mark at its end if lines after it are left out."""
    missing, last, mark = list(shown), "", ""
    for line in lines:
        start = next((start for start in missing if line.startswith(start)), None)
        if start is None:
            mark = f" {ELISION}"
            continue
        if last:
            yield shortened(last, mark)
        missing.remove(start)
        last, mark = line, ""
    if missing:
        raise TranscriptError(f"docs/refusal.svg shows a line that is no longer printed:\n{missing[0]}")
    yield shortened(last, mark)


def shortened(line: str, mark: str = "") -> str:
    """The line and the mark without the script's path, cut before its closing tag if it is wider than the picture."""
    line = line.replace(SCRIPT, NAME).removesuffix(" \\" if mark else "")
    if len(line + mark) <= WIDTH:
        return line + mark
    end = re.search(r"(</\w+>|>|)$", line)[0]
    rest = f" {ELISION}{end}{mark if end else ''}"
    return line[: WIDTH - len(rest) + 1].rpartition(" ")[0] + rest
