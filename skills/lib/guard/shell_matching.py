"""Whether a rule's name (``shell(git push)``) matches a simple command, and what the command says of its arguments."""

from skills.lib.guard.shell_parts import FACTS, base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skills.lib.guard.shell_parts import SimpleCommand

    TreeOf = Callable[[str], str | None]

# Any of a program's operands may be what it is asked to do.
MANY = frozenset("make gmake just rake ninja gradle gradlew mvn mvnw ant invoke inv task nox doit".split())
# A part of the name of a subcommand is enough.
ABBREVIATING = frozenset("npm pnpm yarn cargo hg svn ip nmcli apt aptitude".split())


class Match:
    """A simple command that a rule's name matches, with the words after those of the name.

    If not ``certain``, only the shell knows whether it matches. If not ``is_plain``, it is no evidence: it may be
    another program, or run nothing (``--dry-run``).
    """

    __slots__ = ("args", "at", "certain", "command", "rule")

    def __init__(
        self,
        command: "SimpleCommand",
        rule: "Sequence[str]",
        args: "Sequence[str | None]",
        certain: bool,
        at: int = 1,
    ) -> None:
        self.command = command
        self.rule = rule
        self.args = args
        self.certain = certain
        self.at = at

    @property
    def is_plain(self) -> bool:
        """True if the exit code of the command shows that what the rule names was done."""
        if not (self.certain and self.command.is_plain):
            return False
        from skills.lib.guard.shell_evidence import shows  # a decision about a rule of needs does not ask

        return shows(base(self.command.words[0] or ""), self.args, self.rule)

    def value(self, name: str, has_run: bool = False, tree_of: "TreeOf | None" = None) -> object:
        """The value of ``$args``, ``$paths``, ``$branch``, ``$head`` or ``$tree``; None if it is not known.

        In the two lists, None stands for words or paths that only the shell knows. Before the line runs, what it
        changes before the command is not known; if it ``has_run``, what it changed after it. ``tree_of`` as for
        ``tree``.
        """
        if name == "args":
            return self.args
        if name == "paths":
            from skills.lib.guard.shell_paths import paths_of  # few rules ask for them

            return paths_of(self.command.parts[self.at :], self.command.targets, self.command.folder)
        if name not in FACTS or name in (self.command.passing if has_run else self.command.unsettled):
            return None
        if name == "tree":
            return self.tree(tree_of)
        from skills.lib.guard import shell_repository, worktree

        folder = shell_repository.folder_of(self.command.words, self.command.folder)
        if not folder:
            return None
        if name == "branch":
            is_push = self.at > 1 and self.command.words[self.at - 1] == "push"
            pushed = shell_repository.pushed_branch(self.args, self.command.parts) if is_push else ""
            return worktree.branch(folder) if pushed == "" else pushed
        return worktree.head(folder)

    def tree(self, tree_of: "TreeOf | None" = None) -> str | None:
        """The content of the working tree that the command works in, as it is now.

        ``tree_of`` gives that of a folder, by default ``worktree.tree``, which calls git.
        """
        from skills.lib.guard import shell_repository, worktree

        folder = shell_repository.folder_of(self.command.words, self.command.folder)
        return (tree_of or worktree.tree)(folder) if folder else None


def match(command: "SimpleCommand", rule: "Sequence[str]") -> Match | None:
    """The match of a rule's words with a command; None if they do not match for certain.

    Options before a subcommand are skipped. The word after an option may be its value, or the subcommand.
    """
    words = command.words
    if not rule or not words:
        return None
    name = base(words[0]) if words[0] is not None else None
    wanted = base(rule[0])
    if name is None or name != wanted:
        return None  # a name that is not known makes the line uncertain
    at = 1
    skipped: list[str | None] = []
    if wanted == "git" and len(rule) > 1:
        from skills.lib.guard.shell_repository import git_command

        at, _ = git_command(command.parts)
        if at < 0:
            return Match(command, rule, (None,), False)
    for word in [word for word in rule[1:] if word[:1] != "-"]:
        start = at
        while at < len(words) and words[at] != word:
            given = words[at]
            if given is None or _may_mean(name, given, word, command.parts[at].glob):
                return Match(command, rule, (*skipped, *words[at:]), False)
            if given[:1] != "-" and name not in MANY:
                before = words[at - 1] if at > start else ""
                if not before or before[:1] != "-" or "=" in before or before == "--":
                    return None
            skipped.append(given)
            at += 1
        if at >= len(words):
            return None
        at += 1
    args = (*skipped, *words[at:])
    has_all = all(_has_option(args, word) for word in rule[1:] if word[:1] == "-")
    if not has_all and None not in args:
        return None
    return Match(command, rule, args, has_all, 1 if skipped else at)


def _may_mean(name: str, given: str, word: str, is_glob: bool) -> bool:
    """True if a word may stand for the one that is wanted: a pattern, an alias of git, an abbreviation."""
    if is_glob:
        return True
    if name == "git":
        from skills.lib.guard.shell_programs import GIT_COMMANDS

        return given not in GIT_COMMANDS and given[:1] != "-"
    return name in ABBREVIATING and given != "" and word.startswith(given)


def _has_option(args: "Sequence[str | None]", option: str) -> bool:
    """True if an option is among the words, in any place: with a value, abbreviated, or as letters of several words."""
    given = [word.partition("=")[0] for word in args if word and word[:1] == "-"]
    if option[:2] == "--":
        return any(len(word) > 2 and option.startswith(word) for word in given)
    return set(option[1:]) <= set("".join([word[1:] for word in given if word[:2] != "--"]))
