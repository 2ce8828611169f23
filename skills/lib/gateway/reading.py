"""Reads a gateway file: YAML in, checked records out; every error names the file, the line and the nearest name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from skills.lib.errors import EnvironmentProblem, did_you_mean, nearest
from skills.lib.gateway import code_words, variables
from skills.lib.gateway.fields import Fields, GatewayFileError
from skills.lib.gateway.specs import (
    CONSTANTS,
    OWN_USES,
    PATH_USES,
    Command,
    GatewayFile,
    Limits,
    Parameter,
    Runner,
    Setting,
    names_in,
    program_words,
)
from skills.lib.schema.patterns import Pattern, PatternError, TooMuchWork, Work

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    At = tuple[str, ...]

# The most bytes of a gateway file.
FILE_LIMIT = 200_000
# How many parts all patterns of a file have together, written out, and how many commands there are.
PATTERNS_LIMIT, COMMANDS_LIMIT = 100_000, 500
# How much work it may take to match the defaults.
_WORK = 2_000_000
# A path as the shipped commands take it. Left out: control characters, what shells and URLs are made of, look-alikes of
# dots and slashes, a leading dash or tilde, and two slashes at the beginning (a network path of Windows).
_ODD = (
    r"\x00-\x1f\x7f-\x9f\"*:;<>?|`%"
    r"\u200b-\u200f\u2024-\u202f\u2044\u2060-\u206f\u2215\u29f5\u29f8\ufe68\ufeff"
    r"\uff02\uff05\uff0a\uff0e\uff0f\uff1a-\uff1c\uff1e\uff1f\uff3c\uff40\uff5c"
)
PATH = rf"(?:[A-Za-z]:[/\\]|[/\\])?[^\-~/\\{_ODD}][^{_ODD}]*"
LONGEST_PATH, LONGEST_VALUE = 4_096, 100_000
_TOP = ("commands", "runners", "roots", "blocked", "limits", "sandbox")
_SETTING = ("limits", "env", "inherit", "env_vars", "sandbox")
_COMMAND = ("about", "argv", "does", "params", "blocked", "roots", "folder", *_SETTING)
_PARAMETER = ("pattern", "path", "default", "optional", "many", "longest", "about")
_RUNNER = ("argv", *_SETTING)
_LIMITS = ("seconds", "output", "cpu", "memory", "processes")
_NAME = Pattern(r"^[a-z][a-z0-9_\-]{0,63}$")
_PARAMETER_NAME = Pattern(r"^[a-z][a-z0-9_]{0,63}$")
_SUFFIX = Pattern(r"^\.[a-z0-9]{1,10}$")
_RESERVED = (*CONSTANTS, "command")


def read_gateway_file(
    data: bytes, path: str, *, operations: Collection[str] = (), shipped: GatewayFile | None = None
) -> GatewayFile:
    """The commands and runners of a gateway file.

    ``operations`` are the built-in operations that a command may name with ``does``: the shipped file alone has any.
    ``shipped`` is that file for a project's own, whose commands have other names. Raises GatewayFileError.
    """
    try:
        from skills.lib.skillfile.frontmatter import parse_yaml
        from skills.lib.skillfile.source import SkillFileError
    except ImportError as error:
        raise EnvironmentProblem(
            "a gateway file is YAML, and PyYAML is not installed", remedy="pip install PyYAML"
        ) from error
    if len(data) > FILE_LIMIT:
        raise GatewayFileError(f"{path}: it is larger than {FILE_LIMIT:,} bytes", remedy="write less into it")
    try:
        fields, lines = parse_yaml(data.decode(), Path(path), "the gateway file")
    except UnicodeDecodeError as error:
        raise GatewayFileError(f"{path}: it is not UTF-8", remedy="save it as UTF-8") from error
    except SkillFileError as error:
        raise GatewayFileError(error.what, remedy=error.remedy) from error
    return _Reader(path, lines, operations, shipped).file(fields)


class _Reader(Fields):
    """Makes records of a gateway file; ``at`` is the way to a value by its keys."""

    def __init__(
        self, path: str, lines: Mapping[At, int], operations: Collection[str], shipped: GatewayFile | None
    ) -> None:
        super().__init__(path, lines)
        self.operations = operations
        self.shipped = shipped
        self.compiled: dict[str, Pattern] = {}
        self.size = 0
        self.blocked: tuple[tuple[str, ...], tuple[Pattern, ...]] = ((), ())
        self.work = Work(_WORK)

    def file(self, fields: Any) -> GatewayFile:
        self.keys(fields, (), _TOP)
        commands = self.mapping(fields, "commands", ())
        runners = self.mapping(fields, "runners", ())
        if len(commands) > COMMANDS_LIMIT:
            self.fail(("commands",), f"there are {len(commands):,} commands", f"at most {COMMANDS_LIMIT}")
        base = self.setting(fields, (), None)
        self.blocked = self.patterns(fields, ())
        known = {} if self.shipped is None else self.shipped.runners
        # A sandbox of the file is for all scripts, also where it says nothing else of their runner.
        suffixes = {**runners, **({name: {} for name in known if name not in runners} if base.sandbox else {})}
        return GatewayFile(
            commands={name: self.command(name, fields, ("commands", name), base) for name in commands},
            runners={name: self.runner(name, suffixes[name], ("runners", name), base, known) for name in suffixes},
        )

    # Commands

    def command(self, name: str, top: Any, at: At, base: Setting) -> Command:
        fields = self.keys(top["commands"][name], at, _COMMAND)
        if not _NAME.is_found_in(name):
            self.fail(at, f"{name!r:.80} is no name of a command", "small letters, digits, _ and -; first a letter")
        if self.shipped is not None and name in self.shipped.commands:
            self.fail(at, f"{name} is a command of Lockstep", remedy="give yours another name")
        does = self.text(fields, "does", at)
        if does and does not in self.operations:
            self.fail((*at, "does"), f"there is no operation {does!r:.80}", ", ".join(self.operations) or "use argv")
        if bool(does) == ("argv" in fields):
            self.fail(at, f"{name} has no argv" if not does else f"{name} has argv and does", "argv: [program, word]")
        parameters = {
            one: self.parameter(one, value, (*at, "params", one))
            for one, value in self.mapping(fields, "params", at).items()
        }
        argv = () if does else self.argv(fields["argv"], (*at, "argv"), parameters)
        if not does:
            self.require_use(parameters, argv, at)
        blocked, compiled = self.patterns(fields, at) if "blocked" in fields else self.blocked
        return Command(
            name=name,
            about=self.text(fields, "about", at),
            argv=argv,
            does=does,
            parameters=parameters,
            blocked=blocked,
            compiled=compiled,
            setting=self.setting(fields, at, base),
            roots=self.texts(fields if "roots" in fields else top, "roots", at) or (".",),
            folder=self.text(fields, "folder", at) or ".",
            where=self.where(at),
            of_project=self.shipped is not None,
        )

    def argv(self, value: Any, at: At, parameters: Mapping[str, Parameter]) -> tuple[str | tuple[str, ...], ...]:
        if not isinstance(value, list) or not value or not isinstance(value[0], str) or not value[0].strip():
            self.fail(at, "argv is no list whose first word is a program", 'argv: [make, "{target}"]')
        argv: list[str | tuple[str, ...]] = []
        for number, entry in enumerate(value):
            place = (*at, str(number))
            words = (entry,) if isinstance(entry, str) else tuple(entry) if isinstance(entry, list) else ()
            if not words or not all(isinstance(word, str) for word in words):
                self.fail(place, "a word of argv is neither text nor a list of texts")
            for word in words:
                self.placeholders(word, parameters, place, first=number == 0)
            argv.append(entry if isinstance(entry, str) else words)
        read_as_code = code_words.first_value(program_words(argv))
        if read_as_code:
            self.fail(
                at,
                f"{read_as_code} would be read as program text, so a value could run anything",
                remedy="write a script and give it the value as an argument",
            )
        return tuple(argv)

    def placeholders(self, word: str, parameters: Mapping[str, Parameter], at: At, first: bool) -> None:
        for name in names_in(word):
            if name in CONSTANTS:
                continue
            if name not in parameters:
                known = (*parameters, *CONSTANTS)
                self.fail(at, f"{{{name}}} is no parameter{did_you_mean(nearest(name, known))}", ", ".join(known))
            if first:
                self.fail(at, f"{{{name}}} stands for the program", remedy="write one command for each program")
            if parameters[name].many and word != f"{{{name}}}":
                self.fail(at, f"{{{name}}} stands for many words", remedy="let it stand alone as a word")

    def require_use(self, parameters: Mapping[str, Parameter], argv: Sequence[str | Sequence[str]], at: At) -> None:
        used = {name for word in program_words(argv) for name in names_in(word)}
        for name in parameters:
            if name not in used:
                self.fail((*at, "params", name), f"argv has no {{{name}}}", remedy="use it, or leave it out")

    def parameter(self, name: str, value: Any, at: At) -> Parameter:
        fields = self.keys(value, at, _PARAMETER)
        if not _PARAMETER_NAME.is_found_in(name) or name in _RESERVED:
            self.fail(at, f"{name!r:.80} is no name of a parameter", "small letters, digits and _; first a letter")
        path = self.text(fields, "path", at)
        uses = OWN_USES if self.operations else PATH_USES
        if path and path not in uses:
            self.fail((*at, "path"), f"there is no use {path!r:.80} of a path", ", ".join(uses))
        pattern = self.text(fields, "pattern", at) or (PATH if path else "")
        if not pattern:
            self.fail(at, f"{name} has no pattern", "a pattern that the whole value must match")
        self.pattern(pattern, (*at, "pattern"))  # by itself: x)|(y would be a pattern with what is put around it
        compiled = self.pattern(f"^(?:{pattern})$", (*at, "pattern"))
        default = self.text(fields, "default", at) if "default" in fields else None
        if default is not None and not self.matches(compiled, default, (*at, "default")):
            self.fail((*at, "default"), f"{default!r:.80} does not match {pattern:.200}")
        longest = self.number(fields, "longest", at, LONGEST_PATH if path else LONGEST_VALUE)
        return Parameter(
            name=name,
            pattern=pattern,
            compiled=compiled,
            path=path,
            default=default,
            optional=self.switch(fields, "optional", at) or self.switch(fields, "many", at),
            many=self.switch(fields, "many", at),
            longest=int(longest),
            about=self.text(fields, "about", at),
        )

    def patterns(self, fields: Any, at: At) -> tuple[tuple[str, ...], tuple[Pattern, ...]]:
        """What is blocked, as it is written and as compiled patterns."""
        texts = self.texts(fields, "blocked", at)
        return texts, tuple(self.pattern(text, (*at, "blocked", str(n))) for n, text in enumerate(texts))

    def pattern(self, text: str, at: At) -> Pattern:
        if text not in self.compiled:
            try:
                self.compiled[text] = Pattern(text)
            except PatternError as error:
                self.fail(at, f"the pattern {text:.200} cannot be used: {error}")
            self.size += self.compiled[text].size
            if self.size > PATTERNS_LIMIT:
                self.fail(
                    at,
                    f"written out, the patterns of the file have more than {PATTERNS_LIMIT:,} parts",
                    remedy="bound a value by longest, and not by a number in its pattern",
                )
        return self.compiled[text]

    def matches(self, pattern: Pattern, text: str, at: At) -> bool:
        try:
            return pattern.is_found_in(text, self.work.spend)
        except TooMuchWork:
            self.fail(at, f"to match {text!r:.80} with its pattern takes too long", remedy="a shorter one")

    # Runners and settings

    def runner(self, suffix: str, value: Any, at: At, base: Setting, known: Mapping[str, Runner]) -> Runner:
        fields = self.keys(value, at, _RUNNER)
        if not _SUFFIX.is_found_in(suffix):
            self.fail(at, f"{suffix!r:.80} is no suffix of scripts", ".py, .js, .sh")
        before = known.get(suffix)
        argv = self.texts(fields, "argv", at) or (before.argv if before else ())
        names = [name for word in argv for name in names_in(word)]
        if not argv or names.count("script") != 1 or "{script}" not in argv[1:]:
            self.fail(at, "argv has no word {script} after the program", 'argv: [ruby, "{script}"]')
        for name in names:
            if name not in ("script", *CONSTANTS):
                self.fail((*at, "argv"), f"{{{name}}} is not known here", "{script}, {python}, {project}")
        setting = self.setting(fields, at, before.setting if before else base)
        sandbox = setting.sandbox if "sandbox" in fields else base.sandbox
        setting = Setting(setting.limits, setting.env, setting.inherit, setting.env_vars, sandbox)
        return Runner(suffix=suffix, argv=argv, setting=setting)

    def setting(self, fields: Any, at: At, base: Setting | None) -> Setting:
        env = self.mapping(fields, "env", at)
        for name, value in env.items():
            self.variable(name, (*at, "env", name), any_name=True)
            if not isinstance(value, str):
                self.fail((*at, "env", name), "the value of a variable is no text")
        inherit, given = self.texts(fields, "inherit", at), self.texts(fields, "env_vars", at)
        for name in inherit:
            self.variable(name, (*at, "inherit"), any_name=True)
        for name in given:
            self.variable(name, (*at, "env_vars"), any_name=False)
        sandbox = self.texts(fields, "sandbox", at)
        for word in sandbox:
            for name in names_in(word):
                if name not in CONSTANTS:
                    self.fail((*at, "sandbox"), f"{{{name}}} is not known here", "{python}, {project}")
        if base is None:
            return Setting(
                limits=self.limits(fields, at, None), env=env, inherit=inherit, env_vars=given, sandbox=sandbox
            )
        return Setting(
            limits=self.limits(fields, at, base.limits),
            env={**base.env, **env},
            inherit=(*base.inherit, *inherit),
            env_vars=(*base.env_vars, *given),
            sandbox=sandbox if "sandbox" in fields else base.sandbox,
        )

    def variable(self, name: str, at: At, any_name: bool) -> None:
        if not variables.is_name(name):
            self.fail(at, f"{name!r:.80} is no name of a variable", "letters, digits and _")
        if not any_name and variables.changes_programs(name):
            self.fail(at, f"{name} changes what a program loads, so a caller may not set it", remedy="set it with env")

    def limits(self, fields: Any, at: At, base: Limits | None) -> Limits:
        base = base or Limits(seconds=10, output=100_000)
        inside, place = self.mapping(fields, "limits", at), (*at, "limits")
        self.keys(inside, place, _LIMITS)
        numbers = {name: self.number(inside, name, place, float(getattr(base, name))) for name in _LIMITS}
        if not 0 < numbers["seconds"] <= 86_400:
            self.fail((*place, "seconds"), "the time is no number of seconds above 0, at most a day")
        if not 1_000 <= numbers["output"] <= 10_000_000:
            self.fail((*place, "output"), "the output is bounded by 1k to 10M")
        whole = {name: int(numbers[name]) for name in _LIMITS[1:]}
        return Limits(seconds=numbers["seconds"], **whole)
