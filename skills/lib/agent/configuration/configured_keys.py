"""The keys of ``lockstep.toml``: what each takes, who may set it, and what becomes of a project's value.

The user's file sets everything. A project's can only narrow: of two limits the smaller holds, of two levels the more
secret one. What costs money or says where data goes is the user's alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from skills.lib.errors import did_you_mean, nearest
from skills.lib.field_checks import shown
from skills.lib.record import Record

T = TypeVar("T")

# From the open one to the most secret one; and each role with its level if nothing else is set.
LEVELS = ("FULL", "SUMMARY", "HIDDEN")
ROLES = {"END_USER": "SUMMARY", "DEVELOPER": "FULL", "ADMIN": "FULL"}
# The types of tools that are known without a setting.
TOOL_TYPES = ("API", "BASH", "DATABASE", "FILE")
# The names that stand for a model; ``custom`` is free for one of the user's own.
ALIASES = ("haiku", "sonnet", "opus", "custom")
USER, BOTH = "user", "user, project"
# What stands in a table in place of names that are free.
ANY = "*"
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(ms|s|m|h)?", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZE = re.compile(r"([0-9]{1,12}) ?([kMG])", re.ASCII)
_UNITS = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}
_TYPE = re.compile(r"[A-Z][A-Z0-9_]*", re.ASCII)
_MODEL = re.compile(r"[A-Za-z0-9_-]+:\S.*")


class Kind(Record):
    """What a key takes: ``read`` returns the value as it is kept, or raises ValueError with what is wrong.

    ``narrower`` returns what holds of the user's value and the project's.
    """

    valid: str
    read: Callable[[Any], Any]
    narrower: Callable[[Any, Any], Any] | None = None


class Key(Record):
    """One key by its path, in which ``*`` is any name; and for the documentation, what it does."""

    path: str
    kind: Kind
    who: str
    about: str
    default: Any = None

    @property
    def names(self) -> tuple[str, ...]:
        """The path as names."""
        return tuple(self.path.split("."))

    def of_both(self, users: Any, projects: Any) -> Any:
        """What holds of the user's value, or the default, and the project's. None is no limit."""
        if users is None or self.kind.narrower is None:
            return projects
        return self.kind.narrower(users, projects)


def seconds(value: Any) -> float:
    """The seconds of ``30s``, ``1.5m`` or a number. Raises ValueError for what is no time above 0."""
    found = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if found:
        value = float(found[1]) * _SECONDS[found[2] or "s"]
    return _amount(value)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"is {shown(value)}")
    return value


def _amount(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"is {shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not 0 < number < math.inf:
        raise ValueError(f"is {shown(value)}")
    return number


def _size(value: Any) -> int:
    found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    return _count(int(found[1]) * _UNITS[found[2]] if found else value)


def _price(value: Any) -> float:
    return 0.0 if type(value) in (int, float) and value == 0 else _amount(value)


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"is {shown(value)}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"is {shown(value)}")
    return value.strip()


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"is {shown(value)}")
    return tuple(_text(one) for one in value)


def _word(words: Sequence[str]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in words:
            near = nearest(value, words) if isinstance(value, str) else ""
            raise ValueError(f"is {shown(value)}{did_you_mean(near)}")
        return str(value)

    return read


def _model(value: Any) -> str:
    text = _text(value)
    if not _MODEL.fullmatch(text):
        raise ValueError(f"is {shown(value)}")
    return text


def _model_or_alias(value: Any) -> str:
    text = _text(value)
    return text if text in ALIASES else _model(value)


def _types(value: Any) -> tuple[str, ...]:
    words = _texts([value] if isinstance(value, str) else value)
    for word in words:
        if not _TYPE.fullmatch(word):
            raise ValueError(f"is {shown(value)}")
    return words


def _sensitive_tools(value: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, dict) or set(one) != {"type", "visibility"}:
            raise ValueError(f"has {shown(one)}")
        level = _word(LEVELS)(one["visibility"])
        for word in _types(one["type"]):
            found[word] = _more_secret(found.get(word, LEVELS[0]), level)
    return found


def _more_secret(one: str, other: str) -> str:
    return max(one, other, key=LEVELS.index)


def _narrower_word(words: Sequence[str]) -> Callable[[str, str], str]:
    """Of two words the later one in ``words``."""
    return lambda one, other: max(one, other, key=words.index)


def _joined(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*one, *other]))


def _each(narrower: Callable[[T, T], T]) -> Callable[[Mapping[str, T], Mapping[str, T]], dict[str, T]]:
    def of_both(one: Mapping[str, T], other: Mapping[str, T]) -> dict[str, T]:
        return {**one, **{name: narrower(one[name], value) if name in one else value for name, value in other.items()}}

    return of_both


SIZE = Kind('a size in bytes, as "4G", "500M" or 4000000000', _size, min)
COUNT = Kind("a whole number of 1 or more", _count, min)
TIME = Kind('a time above 0, as "30s", "2m" or 30 (seconds)', seconds, min)
MONEY = Kind("an amount in US dollars above 0", _amount, min)
PRICE = Kind("US dollars for a million tokens, 0 or more", _price)
SWITCH = Kind("true or false", _switch, lambda one, other: one and other)
CHOICE = Kind("true or false", _switch)  # a project may set it either way
TEXT = Kind("a text", _text)
TEXTS = Kind('a list of texts, as ["one", "two"]', _texts, _joined)
MODEL = Kind('provider:name, as "openai:gpt-5.2"', _model)
MODEL_OR_ALIAS = Kind(f'{", ".join(ALIASES)}, or provider:name, as "openai:gpt-5.2"', _model_or_alias)
UNDECLARED = Kind("all, essential", _word(("all", "essential")), _narrower_word(("all", "essential")))
LEVEL = Kind(", ".join(LEVELS), _word(LEVELS), _more_secret)
TYPES = Kind('a type in capital letters, or several, as "DATABASE" or ["DATABASE", "API"]', _types, _joined)
SENSITIVE_TOOLS = Kind(
    'a list of {type, visibility}, as [{ type = "DATABASE", visibility = "HIDDEN" }]',
    _sensitive_tools,
    _each(_more_secret),
)

KEYS = (
    Key("agent.model", MODEL_OR_ALIAS, USER, "the model of sessions that name none"),
    Key("agent.base_url", TEXT, USER, "an endpoint that speaks the protocol of the model's provider"),
    Key("agent.max_iterations", COUNT, BOTH, "model calls in one entry of a step, or in a run of a prose skill", 15),
    Key("agent.most_iterations", COUNT, BOTH, "the highest `max_iterations` that a skill may set for itself"),
    Key("agent.max_retries_per_tool", COUNT, BOTH, "failed calls of one tool with the same arguments", 3),
    Key("agent.timeout_per_iteration", TIME, BOTH, "how long a model call, and each tool call of it, may take"),
    Key("agent.enable_error_recovery", SWITCH, BOTH, "false: the first tool call that fails ends the session", True),
    Key("agent.max_model_calls", COUNT, BOTH, "model calls of a session over all steps", 1_000),
    Key("agent.early_ends", COUNT, BOTH, "how often a model is sent back that ends its turn without a report", 3),
    Key("agent.context_tokens", COUNT, BOTH, "the tokens of one model call; older messages are left out", 100_000),
    Key("agent.undeclared", UNDECLARED, BOTH, "the tools of a step that names none", "all"),
    Key("agent.injection", TEXTS, USER, "the skills whose commands in SKILL.md run without being approved", ()),
    Key("agent.shell.cpu", COUNT, BOTH, "processor seconds of each program that `shell` runs", 600),
    Key("agent.shell.memory", SIZE, BOTH, "what each program that `shell` runs may keep in memory", 4_000_000_000),
    Key("agent.shell.processes", COUNT, BOTH, "how many processes `shell` may add to the user's", 1_000),
    Key("agent.shell.sandbox", TEXTS, USER, 'words before each command of `shell`, as `["bwrap", "…", "--"]`', ()),
    Key("agent.visibility.default_visibility", LEVEL, BOTH, "the level of whoever has no role", "FULL"),
    *[
        Key(f"agent.visibility.roles.{role}", LEVEL, BOTH, f"the level of {role}", level)
        for role, level in ROLES.items()
    ],
    Key("agent.visibility.sensitive_tools", SENSITIVE_TOOLS, BOTH, "the level of tools of a type", {}),
    Key("agent.visibility.sensitive_fields", TEXTS, BOTH, "names of fields whose values are redacted", ()),
    Key(
        f"agent.tool_types.{ANY}", TYPES, BOTH, 'the type of a tool or of a command, as `"shell(psql:*)" = "DATABASE"`'
    ),
    Key("agent.budgets.tokens_per_run", COUNT, BOTH, "tokens of one run, its sub-agents' with it"),
    Key("agent.budgets.tokens_per_day", COUNT, BOTH, "tokens of the user since midnight (UTC), in all projects"),
    Key("agent.budgets.tokens_per_month", COUNT, BOTH, "tokens of the user since the month began (UTC)"),
    Key("agent.budgets.usd_per_run", MONEY, BOTH, "what one run may cost, its sub-agents with it"),
    Key("agent.budgets.usd_per_day", MONEY, BOTH, "what the user may spend a day (UTC), in all projects"),
    Key("agent.budgets.usd_per_month", MONEY, BOTH, "what the user may spend a month (UTC)"),
    Key("agent.budgets.starts_per_hour", COUNT, BOTH, "how many runs of one skill the user may open in an hour"),
    *[Key(f"agent.models.{name}", MODEL, USER, f"the model that `{name}` stands for") for name in ALIASES],
    Key(f"agent.prices.{ANY}.input", PRICE, USER, "the price of tokens that a model reads"),
    Key(f"agent.prices.{ANY}.cached_input", PRICE, USER, "of those among them that come from the cache"),
    Key(f"agent.prices.{ANY}.output", PRICE, USER, "the price of tokens that it writes"),
    Key(
        "phases.use_layered_skills",
        CHOICE,
        BOTH,
        "what `lockstep phase --prompt` gives if the issue does not say",
        False,
    ),
)
