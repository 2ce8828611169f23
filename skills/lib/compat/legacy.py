"""The older form of a skill: ``@skill`` over a main function that prints its steps. New skills are a Workflow.

docs/migrating.md shows how such a skill is written as a Workflow.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import sys
import warnings

from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Main = Callable[..., Any]

_TYPES = {"int": int, "float": float}
_noted = False


class LegacyWarning(DeprecationWarning):
    """What is used still works, and has a successor that the message names."""


class LegacySkill(Record):
    """The arguments of ``@skill``; ``steps`` is the STEPS table of its module, empty if it has none."""

    name: str
    total_steps: int
    description: str
    main: Main

    @property
    def steps(self) -> Mapping[int, Any]:
        """The step table of the module that holds the main function."""
        found: Mapping[int, Any] = self.main.__globals__.get("STEPS", {})
        return found


def skill(name: str, total_steps: int, description: str = "") -> Callable[[Main], Main]:
    """Make a main function the entry of a legacy skill: called without arguments, it reads the command line.

    ``--step`` and ``--total-steps`` are checked; what is wrong is said on standard error, exit code 2. Further
    parameters of the function are flags of the same name, unless the module parses its command line itself. The
    decorated function has these arguments as ``legacy_skill``.
    """
    if isinstance(total_steps, bool) or not isinstance(total_steps, int) or total_steps < 1:
        raise ValueError(f"skill {name!r}: total_steps {total_steps!r} is not a whole number of 1 or more")
    note("@skill is the older form of a skill")

    def decorate(main: Main) -> Main:
        described = LegacySkill(name, total_steps, description, main)

        @functools.wraps(main)
        def entry(*args: Any, **named: Any) -> Any:
            return main(*args, **named) if args or named else main(**arguments(described, sys.argv[1:]))

        entry.legacy_skill = described  # type: ignore[attr-defined]
        return entry

    return decorate


def arguments(described: LegacySkill, argv: list[str]) -> dict[str, Any]:
    """The arguments of the main function by name; what is wrong with the command line ends the process with 2."""
    parameters = inspect.signature(described.main).parameters
    own = _parses_itself(described.main)
    parser = argparse.ArgumentParser(
        description=described.description or described.main.__doc__, allow_abbrev=False, add_help=not own
    )
    parser.add_argument("--step", type=int, required=True, metavar="N", help=f"1 to {described.total_steps}")
    parser.add_argument("--total-steps", type=int, default=described.total_steps, metavar="N")
    for parameter in parameters.values() if not own else ():
        if parameter.name not in ("step", "total_steps"):
            _add_flag(parser, parameter)
    given, _ = parser.parse_known_args(argv) if own else (parser.parse_args(argv), [])
    if not 1 <= given.step <= described.total_steps:
        parser.error(f"--step {given.step} is no step of {described.name}: use 1 to {described.total_steps}")
    if given.total_steps != described.total_steps:
        parser.error(f"--total-steps {given.total_steps} is wrong: {described.name} has {described.total_steps}")
    return {name: value for name, value in vars(given).items() if name in parameters}


def note(what: str) -> None:
    """Say once per process that something is of the older layer and what replaces it.

    The line that is named is the one that called, or imported, who calls this. It is a DeprecationWarning that is
    shown in modules too; ``-W`` and PYTHONWARNINGS decide where they are given.
    """
    global _noted
    if _noted:
        return
    _noted = True
    if not sys.warnoptions:
        warnings.simplefilter("default", LegacyWarning)
    warnings.warn(
        f"{what}: import from skills.lib.workflow.types and skills.lib.workflow.formatters;"
        " docs/migrating.md of Lockstep shows how to write a Workflow",
        LegacyWarning,
        stacklevel=3,
    )


def _parses_itself(main: Main) -> bool:
    """True if the module reads the command line beside the decorator, which then leaves other flags to it."""
    return "argparse" in main.__globals__ or "argparse" in main.__code__.co_names


def _add_flag(parser: argparse.ArgumentParser, parameter: inspect.Parameter) -> None:
    flag = "--" + parameter.name.replace("_", "-")
    kind = getattr(parameter.annotation, "__name__", parameter.annotation)
    required = parameter.default is parameter.empty
    if kind == "bool":
        parser.add_argument(flag, action="store_true")
    else:
        default = None if required else parameter.default
        parser.add_argument(flag, type=_TYPES.get(str(kind), str), default=default, required=required)
