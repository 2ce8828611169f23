"""Questions to a person at a terminal; without one nothing is asked."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click


def is_terminal() -> bool:
    """True if a person can be asked: standard input and standard error are terminals."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def one_of(question: str, choices: Sequence[str], default: str) -> str:
    """The choice of one."""
    answer: str = click.prompt(question, default=default, type=click.Choice(choices), err=True)
    return answer


def some_of(question: str, choices: Sequence[str], default: Sequence[str]) -> list[str]:
    """The choice of several, typed with spaces or commas between; ``all`` stands for all."""

    def chosen(text: str) -> list[str]:
        words = text.replace(",", " ").split()
        unknown = [word for word in words if word not in (*choices, "all")]
        if unknown or not words:
            raise click.BadParameter(f"choose from {', '.join(choices)}, or all")
        return list(choices) if "all" in words else words

    shown = "all" if list(default) == list(choices) else " ".join(default)
    answer: list[str] = click.prompt(question, default=shown, value_proc=chosen, err=True)
    return answer
