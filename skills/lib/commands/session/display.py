"""What a person sees of a session: milestones line by line, and below them where the run is; or lines of JSON."""

from __future__ import annotations

import json
import textwrap
import time
from typing import TYPE_CHECKING, Any

from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from skills.lib.commands.console.screen import Screen, clean, counted, one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, ConsoleOptions, RenderResult

    from skills.lib.agent.watching.events import Event

SUMMARY, FULL = "SUMMARY", "FULL"
# What is before a line, with what is there if the terminal has no more than ASCII, and the style of the line.
_MARKS = {
    "moved": ("✓", "+", "green"),
    "milestone": ("✓", "+", "green"),
    "finished": ("✓", "+", "bold green"),
    "opened": ("▸", ">", ""),
    "task": ("▸", ">", "bold"),
    "refused": ("↩", "!", "yellow"),
    "sent-back": ("↩", "!", "yellow"),
    "asked": ("?", "?", "bold yellow"),
    "stopped": ("■", "#", "red"),
    "abandoned": ("■", "#", "red"),
    "lost": ("■", "#", "red"),
    "thought": ("…", ".", "italic"),
    "call": ("→", "$", "cyan"),
    "result": ("←", "=", "dim"),
    "model": ("·", "-", "dim"),
    "usage": ("·", "-", "dim"),
}
_OTHER = ("·", "-", "")
# Of a step that was left, or a run that ended, and is not done.
_UNDONE = ("↩", "!", "yellow")
# How many lines of a thought or a result are shown, and the margin before all but the first.
_LINES, _MARGIN = 20, " " * len("100%  + ")
# How wide the bar of the share of the way is.
_BAR = 20


class Display:
    """Shows nothing: for output that nobody reads as it comes. ``level`` is which events are wanted.

    ``watches`` says that every event is wanted besides, by ``watch``.
    """

    level = SUMMARY
    watches = False

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *error: object) -> None:
        """End the display."""

    def show(self, event: Event) -> None:
        """Show an event."""

    def watch(self, event: Event) -> None:
        """Take note of an event."""


class JsonLines(Display):
    """One event a line, for a program."""

    def __init__(self, screen: Screen, level: str) -> None:
        self._screen, self.level = screen, level

    def show(self, event: Event) -> None:
        self.line(event.fields())

    def line(self, value: dict[str, Any]) -> None:
        """Print one line of JSON, at once."""
        self._screen.out.print(Text(json.dumps(value)), soft_wrap=True)
        self._screen.out.file.flush()


class Lines(Display):
    """Each event in a line, for a person, on standard error or by ``say``; lines longer than ``width`` are broken.

    Milestones may be ``numbered``.
    """

    def __init__(
        self,
        screen: Screen,
        level: str,
        width: int = 0,
        say: Callable[..., None] | None = None,
        numbered: bool = False,
    ) -> None:
        self._screen, self.level, self._width = screen, level, width
        self._say, self._numbered = say or screen.say, numbered

    def show(self, event: Event) -> None:
        mark, plain, style = _UNDONE if event.data.get("undone") else _MARKS.get(event.kind, _OTHER)
        first, *others = self._broken(clean(event.text).strip()) or [""]
        if len(others) >= _LINES:
            others = [*others[: _LINES - 1], f"({counted(len(others) - _LINES + 1, 'more line')})"]
        head = f"{event.progress:3}%  {mark if self._screen.unicode else plain} "
        number = event.data.get("milestone") if self._numbered else None
        head += f"{number}. " if number else ""
        self._say(self._screen.styled(head, "dim"), self._screen.styled(first, style))
        for line in others:
            self._say(self._screen.styled(_MARGIN + line, style))

    def _broken(self, text: str) -> list[str]:
        if not self._width:
            return [line.rstrip() for line in text.splitlines()]
        width = max(self._width - len(_MARGIN), len(_MARGIN))
        wrapped = [textwrap.wrap(line, width, break_on_hyphens=False) or [""] for line in text.splitlines()]
        return [line for lines in wrapped for line in lines]


class LiveLines(Lines):
    """The same on a terminal, and below it where the run is: step, share of the way, calls, what goes on, time."""

    watches = True

    def __init__(self, screen: Screen, level: str) -> None:
        super().__init__(screen, level, screen.err.width)
        self._at = _Where(screen.unicode)
        self._live = Live(self._at, console=screen.err, transient=True, refresh_per_second=8)

    def __enter__(self) -> Display:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def watch(self, event: Event) -> None:
        self._at.take(event)


class _Where:
    """The last line of a terminal: where the run is at this moment."""

    def __init__(self, unicode: bool) -> None:
        self._unicode = unicode
        self._spinner = Spinner("dots" if unicode else "line")
        self._began = time.monotonic()
        self._last: Event | None = None
        self._goes_on = "starting"
        self._models = self._calls = 0

    def take(self, event: Event) -> None:
        """Go on by an event."""
        is_below = "." in event.run
        if event.kind in ("moved", "opened") and not is_below:
            self._models = self._calls = 0
        self._models += event.kind == "model"
        self._calls += event.kind == "call"
        if event.kind == "model":
            self._goes_on = "thinking"
        elif event.kind == "call":
            self._goes_on = one_line(event.data.get("tool", ""))
        elif event.kind in ("result", "thought"):
            self._goes_on = ""
        if not is_below:
            self._last = event

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        last, seconds = self._last, int(time.monotonic() - self._began)
        progress = last.progress if last else 0
        full = _BAR * progress // 100
        done, left = ("━", "╌") if self._unicode else ("#", ".")
        line = Text(no_wrap=True, overflow="ellipsis", end="")
        line.append_text(Text(str(self._spinner.render(time.monotonic()))))
        line.append(f" {done * full}", "green").append(left * (_BAR - full), "dim")
        line.append(f" {progress:3}%  {seconds // 60}:{seconds % 60:02}  ")
        if last and last.of:
            line.append(f"step {last.number} of {last.of}, {one_line(last.step)}", "bold")
        counts = [counted(number, noun) for number, noun in self._counts() if number]
        about = ", ".join([*counts, *([self._goes_on] if self._goes_on else [])])
        line.append(f"  {about}" if about else "", "dim")
        yield line

    def _counts(self) -> list[tuple[int, str]]:
        return [(self._models, "model call"), (self._calls, "tool call")]


def display_for(screen: Screen, detail: str | None, as_json: bool) -> Display:
    """The display by what was asked for and who reads: nothing for a pipe that nobody asked to fill."""
    level = (detail or "summary").upper()
    if as_json:
        return JsonLines(screen, level)
    if screen.err.is_terminal and not screen.err.is_dumb_terminal:
        return LiveLines(screen, level)
    return Lines(screen, level) if detail or screen.err.is_terminal else Display()
