"""Checks the values of a call: patterns, leading dashes, paths, blocked patterns, in this order."""

from __future__ import annotations

from skills.lib.errors import RefusedError, UsageError, did_you_mean, nearest
from skills.lib.gateway.specs import Command, Parameter, filled, names_in
from skills.lib.model.texts import shortened
from skills.lib.schema.patterns import TooMuchWork, Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills.lib.gateway.places import Places

# How many values a parameter of many takes, and how many characters all values of a call have together.
MOST, LONGEST = 1_000, 500_000
# How much work the patterns of a call may take: more than any reasonable one, about a second.
WORK = 2_000_000


def values_of(command: Command, given: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """The values of each parameter that has any, each checked against its pattern. Raises UsageError, RefusedError."""
    names = tuple(command.parameters)
    for name in given:
        if name not in command.parameters:
            raise UsageError(
                f"{command.name} has no parameter {name!r:.80}{did_you_mean(nearest(name, names))}",
                valid=", ".join(names) or "none",
            )
    found: dict[str, tuple[str, ...]] = {}
    count, work = 0, Work(WORK)
    for name, parameter in command.parameters.items():
        value = given.get(name)
        texts = _texts(command, parameter, parameter.default if value is None else value)
        count += sum(map(len, texts))
        if count > LONGEST:
            raise UsageError(
                f"{command.name}: the values have more than {LONGEST:,} characters together",
                remedy="give a long text on standard input",
            )
        if not texts and not parameter.optional:
            raise UsageError(f"{command.name}: {name} is missing", valid=parameter.about or parameter.pattern)
        for text in texts:
            _check(command, parameter, text, work)
        if texts:
            found[name] = texts
    return found


def _texts(command: Command, parameter: Parameter, value: object) -> tuple[str, ...]:
    """The values of a parameter: one text, or a list of texts if it takes many."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if parameter.many and isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        if len(value) > MOST:
            raise UsageError(f"{command.name}: {parameter.name} has {len(value):,} values, at most {MOST:,} are taken")
        return tuple(value)
    kind = "a text or a list of texts" if parameter.many else "a text"
    raise UsageError(f"{command.name}: {parameter.name} is {kind}, not {value!r:.80}")


def _check(command: Command, parameter: Parameter, text: str, work: Work) -> None:
    what = f"{command.name}: {parameter.name}"
    if len(text) > parameter.longest:
        raise RefusedError(f"{what} has {len(text):,} characters, at most {parameter.longest:,} are taken")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RefusedError(f"{what} is {text!r:.80}, which is no text in UTF-8") from None
    try:
        matches = "\0" not in text and parameter.compiled.is_found_in(text, work.spend)
    except TooMuchWork:
        raise RefusedError(
            f"{what} is {shortened(repr(text), 80)}: to match it with its pattern takes too long",
            valid=shortened(parameter.pattern, 300),
            remedy="a shorter value; the pattern could bound it by longest",
        ) from None
    if not matches:
        raise RefusedError(
            f"{what} is {shortened(repr(text), 80)}, which does not match its pattern",
            valid=shortened(parameter.pattern, 300),
            remedy=parameter.about,
        )
    if text.startswith("-") and not parameter.allows_dash:
        raise RefusedError(
            f"{what} is {shortened(repr(text), 80)}: a value that begins with - would be read as an option",
            valid="a value that does not begin with -, unless the pattern does",
        )


def resolved(command: Command, values: Mapping[str, Sequence[str]], places: Places) -> dict[str, tuple[str, ...]]:
    """The values with each path resolved. Raises RefusedError for a path that may not be used."""
    found = {}
    for name, texts in values.items():
        use = command.parameters[name].path
        found[name] = tuple(places.resolve(text, use, command.roots) if use else text for text in texts)
    return found


def words(command: Command, values: Mapping[str, Sequence[str]], constants: Mapping[str, str]) -> list[str]:
    """The argument list; a word, or a group of words, is left out if a parameter in it has no value."""
    made: list[str] = []
    for entry in command.argv:
        group = (entry,) if isinstance(entry, str) else entry
        wanted = [name for word in group for name in names_in(word) if name in command.parameters]
        if all(name in values for name in wanted):
            made += [one for word in group for one in _word(command, word, values, constants)]
    return made


def _word(
    command: Command, word: str, values: Mapping[str, Sequence[str]], constants: Mapping[str, str]
) -> Sequence[str]:
    name = next(names_in(word), "")
    if word == f"{{{name}}}" and name in command.parameters:
        return values[name]
    single = {name: texts[0] for name, texts in values.items() if texts}
    return (filled(word, {**constants, **single}),)


def require_not_blocked(command: Command, line: str) -> None:
    """RefusedError if a blocked pattern is in the assembled line, or in the part of a value that was given."""
    work = Work(WORK)
    for text, pattern in zip(command.blocked, command.compiled, strict=True):
        try:
            is_blocked = pattern.is_found_in(line, work.spend)
        except TooMuchWork:
            raise RefusedError(
                f"{command.name}: to look for what is blocked in the line takes too long",
                valid=f"a line without {text}",
                remedy="shorter values",
            ) from None
        if is_blocked:
            raise RefusedError(
                f"{command.name}: the line has what is blocked: {shortened(repr(line), 200)}",
                valid=f"a line without {text}",
            )
