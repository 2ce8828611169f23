"""The settings in force for a project: the user's ``lockstep.toml``, narrowed by the project's.

``configured_keys`` has the table of keys. Every wrong key, type or value is an error with its file and line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from skills.lib import paths
from skills.lib.agent.configuration.configured_keys import ANY, KEYS, TOOL_TYPES, USER, Key
from skills.lib.agent.configuration.settings import Settings
from skills.lib.agent.configuration.toml_file import TomlFile
from skills.lib.errors import UsageError, did_you_mean, nearest
from skills.lib.field_checks import EMPTY
from skills.lib.record import Record

FILE, PYPROJECT = "lockstep.toml", "pyproject.toml"
DEFAULT = "default"
# The keys of the fields of ``Settings`` that have another name.
_KEYS_OF = {"tool_failures": "max_retries_per_tool"}
# So many wrong settings are told at once.
_TOLD = 20


class Visibility(Record):
    """Who sees what: the level of whoever has no role, of each role, and of tools by their type.

    ``sensitive_fields`` are names of fields whose values are redacted.
    """

    default_visibility: str = "FULL"
    roles: Mapping[str, str] = EMPTY
    sensitive_tools: Mapping[str, str] = EMPTY
    sensitive_fields: tuple[str, ...] = ()


class Budgets(Record):
    """What a run, and all runs of a user, may take; None is no limit. Days and months are those of UTC."""

    tokens_per_run: int | None = None
    tokens_per_day: int | None = None
    tokens_per_month: int | None = None
    usd_per_run: float | None = None
    usd_per_day: float | None = None
    usd_per_month: float | None = None
    starts_per_hour: int | None = None


class Shell(Record):
    """What each program of the tool ``shell`` may take: processor seconds, bytes of memory, and processes of the user.

    ``sandbox`` are words that stand before each command.
    """

    cpu: int = 600
    memory: int = 4_000_000_000
    processes: int = 1_000
    sandbox: tuple[str, ...] = ()


class Price(Record):
    """What a model costs, in US dollars for a million tokens."""

    input: float
    output: float
    cached_input: float


class InForce(Record):
    """The value of one key, and where it comes from: ``default``, or files with their lines.

    ``unheeded`` is where a project sets a value that is no narrower, and so changes nothing.
    """

    names: tuple[str, ...]
    value: Any
    place: str = DEFAULT
    unheeded: str = ""

    @property
    def path(self) -> str:
        """The key as TOML writes it: ``agent.budgets.usd_per_day``."""
        return _dotted(self.names)


class Configuration(Record):
    """The settings of a project's sessions.

    ``tool_types`` has the types of a tool by its name, or of commands by a pattern as ``shell(psql:*)``; of several
    types the most secret one counts. ``models`` are the aliases that the user set. ``most_iterations`` bounds what a
    skill may set for itself; None is no bound. ``injection`` names skills whose commands run without being approved.
    """

    settings: Settings = Settings()
    most_iterations: int | None = None
    model: str = ""
    base_url: str = ""
    injection: tuple[str, ...] = ()
    shell: Shell = Shell()
    visibility: Visibility = Visibility()
    tool_types: Mapping[str, tuple[str, ...]] = EMPTY
    budgets: Budgets = Budgets()
    models: Mapping[str, str] = EMPTY
    prices: Mapping[str, Price] = EMPTY
    in_force: tuple[InForce, ...] = ()


def load(project: str) -> Configuration:
    """The settings in force for a project. Raises UsageError for what is wrong in a file, with its line.

    The project's are in its ``lockstep.toml`` and in ``[tool.lockstep]`` of its ``pyproject.toml``.
    """
    users = TomlFile.read(user_file())
    _require_own(project)
    projects = [TomlFile.read(os.path.join(project, FILE))]
    projects += [TomlFile.read(os.path.join(project, PYPROJECT), ("tool", "lockstep"))]
    own = [file for file in projects if file and not file.is_at(user_file())]
    values = {key.names: InForce(key.names, key.default) for key in KEYS if ANY not in key.names}
    wrong: list[UsageError] = []
    for _, names, value, place in _entries(users, True, wrong) if users else ():
        values[names] = InForce(names, value, place)
    for file in own:
        for key, names, value, place in _entries(file, False, wrong):
            values[names] = _narrowed(key, values.get(names, InForce(names, key.default)), value, place)
    if wrong:
        raise _all_of(wrong)
    _check_prices(values)
    _check_types(values)
    return _of(values)


def _require_own(project: str) -> None:
    """Raise UsageError for a file of settings that leads out of the project: errors would tell what is in there."""
    for name in (FILE, PYPROJECT):
        path = os.path.join(project, name)
        if not paths.is_of_project(path) and not os.path.realpath(path) == os.path.realpath(user_file()):
            raise UsageError(f"{path} is a link that leads out of the project", remedy="put the file itself there")


def user_file() -> str:
    """The user's file: in the folder LOCKSTEP_CONFIG, else in lockstep/ of XDG_CONFIG_HOME or ~/.config.

    A relative folder is none: it would be another one, of somebody else's making, in each project.
    """
    given = os.environ.get("LOCKSTEP_CONFIG", "")
    if os.path.isabs(given):
        return os.path.join(given, FILE)
    base = os.environ.get("APPDATA" if os.name == "nt" else "XDG_CONFIG_HOME", "")
    base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "lockstep", FILE)


def _narrowed(key: Key, before: InForce, value: Any, place: str) -> InForce:
    """What holds once a project has set a value."""
    holds = key.of_both(before.value, value)
    if holds == before.value:
        return InForce(before.names, before.value, before.place, place)
    places = place if holds == value or before.place == DEFAULT else f"{before.place}, {place}"
    return InForce(before.names, holds, places, before.unheeded)


def _all_of(wrong: list[UsageError]) -> UsageError:
    """One error that tells all that is wrong, in the order of the files; the error itself if there is one."""
    if len(wrong) == 1:
        return wrong[0]
    told = [f"  {one.what}{f' (valid: {one.valid})' if one.valid else ''}" for one in wrong[:_TOLD]]
    count = f"more than {_TOLD}" if len(wrong) > _TOLD else len(wrong)
    return UsageError("\n".join([f"{count} settings are wrong", *told]))


def _entries(
    file: TomlFile, is_users: bool, wrong: list[UsageError]
) -> Iterator[tuple[Key, tuple[str, ...], Any, str]]:
    """Each key that a file sets, with its names, its value as it is kept, and its place; ``wrong`` takes the errors."""
    for names, given in _leaves(file, file.values, (), wrong):
        key = next(key for key in KEYS if _matches(key.names, names) and len(key.names) == len(names))
        place, shown = file.place(names), _dotted(names)
        if key.who == USER and not is_users:
            what = f"{place}: {shown} is the user's to set, and a project cannot"
            wrong.append(UsageError(what, remedy=f"take it out there; a user sets it in {user_file()}"))
            continue
        try:
            value = key.kind.read(given)
        except ValueError as error:
            wrong.append(UsageError(f"{place}: {shown} {error}", valid=key.kind.valid))
            continue
        yield key, names, value, place


def _leaves(
    file: TomlFile, table: Mapping[str, Any], above: tuple[str, ...], wrong: list[UsageError]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The keys of a table and of those in it; ``wrong`` takes an error for one that there is not."""
    for name, value in table.items():
        if len(wrong) > _TOLD:
            return
        names = (*above, name)
        found = [key for key in KEYS if _matches(key.names, names)]
        if not found:
            valid = list(dict.fromkeys(key.names[len(above)] for key in KEYS if _matches(key.names, above)))
            what = f"{file.place(names)}: there is no setting {_dotted(names)}{did_you_mean(nearest(name, valid))}"
            wrong.append(UsageError(what, valid=", ".join(valid)))
        elif any(len(key.names) == len(names) for key in found):
            yield names, value
        elif isinstance(value, dict):
            yield from _leaves(file, value, names, wrong)
        else:
            keys = ", ".join(key.names[len(names)] for key in found)
            wrong.append(UsageError(f"{file.place(names)}: {_dotted(names)} is no table", valid=f"a table with {keys}"))


def _matches(pattern: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """True if names are the beginning of a key's path."""
    return len(names) <= len(pattern) and all(one in (ANY, name) for one, name in zip(pattern, names, strict=False))


def _dotted(names: tuple[str, ...]) -> str:
    """Names as TOML writes them in one."""
    return ".".join(name if name.replace("-", "").replace("_", "").isalnum() else f'"{name}"' for name in names)


def _check_prices(values: Mapping[tuple[str, ...], InForce]) -> None:
    """Raise UsageError for a price without one of its parts."""
    for names, one in values.items():
        if names[:2] == _PRICES:
            for part in ("input", "output"):
                if (*names[:3], part) not in values:
                    raise UsageError(
                        f"{one.place}: {_dotted(names[:3])} has no {part} price", valid="input, output, cached_input"
                    )


def _check_types(values: Mapping[tuple[str, ...], InForce]) -> None:
    """Raise UsageError for a type of sensitive tools that no tool can have: it would hide nothing."""
    sensitive = values[_SENSITIVE]
    known = sorted({*TOOL_TYPES, *(word for names, one in values.items() if names[:2] == _TYPES for word in one.value)})
    for word in sensitive.value:
        if word not in known:
            raise UsageError(
                f"{sensitive.place}: {sensitive.path} has the type {word}, and no tool is of it"
                f"{did_you_mean(nearest(word, known))}",
                valid=", ".join(known),
                remedy="give the type to a tool in [agent.tool_types]",
            )


_PRICES, _TYPES = ("agent", "prices"), ("agent", "tool_types")
_SENSITIVE = ("agent", "visibility", "sensitive_tools")


def _of(values: Mapping[tuple[str, ...], InForce]) -> Configuration:
    def table(*above: str) -> dict[str, Any]:
        """The values of a table that are set, by name."""
        found = {names[-1]: one.value for names, one in values.items() if names[:-1] == above}
        return {name: value for name, value in found.items() if value is not None}

    agent = table("agent")
    named = {name: agent[_KEYS_OF.get(name, name)] for name in Settings().fields() if _KEYS_OF.get(name, name) in agent}
    models = {names[2] for names in values if names[:2] == _PRICES}
    prices = {name: table(*_PRICES, name) for name in models}
    return Configuration(
        settings=Settings(**named),
        most_iterations=agent.get("most_iterations"),
        model=agent.get("model", ""),
        base_url=agent.get("base_url", ""),
        injection=agent["injection"],
        shell=Shell(**table("agent", "shell")),
        visibility=Visibility(roles=table("agent", "visibility", "roles"), **table("agent", "visibility")),
        tool_types=table(*_TYPES),
        budgets=Budgets(**table("agent", "budgets")),
        models=table("agent", "models"),
        prices={name: Price(**{"cached_input": price["input"], **price}) for name, price in prices.items()},
        in_force=tuple(values.values()),
    )
