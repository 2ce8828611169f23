"""Lines of plain words, which a shell reads as they are written, and programs that start no other.

Most lines are of this kind. Whatever is not certainly so is left to ``shell_syntax`` and to the tables of
``shell_programs``.
"""

import os

from skills.lib.guard.shell_parts import SimpleCommand, Word

# Outside of quotes a word with only these characters means to a shell what it reads as.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@%+,=-")
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
# In double quotes these are not what they read as, and a backslash before one of these is none.
_EXPANDED, _ESCAPED = frozenset("$`"), frozenset('$`"\\\n')
# These redirections name no file.
_REDIRECTIONS = ("2>&1", "2>/dev/null", ">/dev/null", "> /dev/null")
_AFTER = frozenset(" ;|")
# For a word with these a shell puts the files whose names fit.
_PATTERN = frozenset("*?")
_LONGEST, _MOST = 5_000, 50
# Programs that start others, read commands, or calculate; and the words of a shell's own language.
SPECIAL = frozenset(
    (
        # shells, interpreters, and what they read
        "sh bash zsh dash ksh mksh ash fish csh tcsh rbash posh yash oksh lksh pdksh hush osh pwsh powershell cmd "
        "nu xonsh elvish python python2 python3 pypy pypy3 py pythonw node nodejs deno bun perl ruby php lua luajit "
        "tclsh wish julia osascript rscript r octave gnuplot groovy guile racket elixir raku jshell qjs m4 dc ghci "
        "sqlite3 psql mysql mariadb ftp sftp telnet redis-cli mongo mongosh "
        # wrappers and runners
        "env sudo doas timeout gtimeout nohup setsid nice ionice chrt taskset stdbuf unbuffer time command builtin "
        "exec noglob nocorrect chronic caffeinate fakeroot flock strace ltrace xvfb-run busybox toybox npx bunx "
        "uvx xargs uv poetry pipenv pdm rye hatch pixi bundle npm pnpm yarn conda mamba pyenv rbenv nodenv asdf "
        "mise direnv dotenv pipx lerna "
        # they start a program that one of their words names
        "prlimit setarch linux32 linux64 i386 i486 i586 i686 x86_64 uname26 capsh choom runcon uclampset coresched "
        "numactl cgexec systemd-inhibit systemd-cat dbus-run-session eatmydata faketime torsocks torify proxychains "
        "proxychains4 sshpass ssh-agent valgrind perf catchsegv gosu su-exec tini dumb-init cpulimit logsave "
        "fakechroot sem daemonize dotenvx doppler op chamber aws-vault envdir envchain chpst softlimit setlock pv "
        # what they run is not seen
        "eval source alias fc bind complete compgen enable hash let coproc repeat parallel watch entr ssh su "
        "runuser script at batch crontab tmux screen expect gdb lldb nodemon watchexec onchange concurrently "
        "hyperfine socat chroot unshare nsenter setpriv systemd-run start-stop-daemon run-parts pkexec sg firejail "
        "bwrap proot vim vi nvim ex ed emacs nix-shell start call iex invoke-expression start-process start-job "
        "wsl rlwrap dbus-launch timeit pdb ipython command_not_found_handle foreman honcho mshta wscript cscript "
        "rundll32 forfiles emulate sched zargs zmv "
        # an option or a word of theirs may run another one, or set what it means
        "tar gtar bsdtar rsync scp split fd fdfind zip man less more wget mapfile readarray nix find gfind sed "
        "gsed awk gawk mawk nawk goawk nc ncat netcat trap export declare typeset local readonly "
        # the language itself, and what changes the folder in ways that are not followed
        "if while until begin then elif else do and or not fi done for case select function foreach switch pushd "
        "popd z j zi "
    ).split()
)
# The beginnings of words by which these run another program.
HANDING = {
    **dict.fromkeys(
        ("make", "gmake"), ("--eval", "--ev", "SHELL=", ".SHELLFLAGS", ".DEFAULT_GOAL", "MAKEF", "GNUMAKEF")
    ),
    "rg": ("--pre", "--hostname-bin"),
    "sort": ("--co",),
    "jobs": ("-x",),
    "go": ("-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool"),
}
# Commands of git that run no other program, but for words that begin so.
OF_GIT: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        "add blame branch checkout cherry-pick commit describe diff log ls-files merge merge-base mv reflog remote"
        " reset restore rev-parse revert rm show stash status switch tag worktree".split(),
        (),
    ),
    **dict.fromkeys(("fetch", "pull"), ("--upload-pack", "--upl")),
    "push": ("--receive-pack", "--rec", "--exec", "--ex"),
}
# These run a script or a module of Python; what they run counts as a program of its own.
_PYTHONS = frozenset(("python", "python3"))
# These write files, which the same line may run, or read more than words.
_ALONE = frozenset("tee cp mv ln install curl dd make gmake set".split())


def command(line: str) -> list[Word]:
    """The words of a line that is one plain command; none if it is not certainly one, or has a pattern of files."""
    found = commands(line)
    return found[0] if len(found) == 1 and not any(word.glob for word in found[0]) else []


def simple_command(line: str, folder: str) -> SimpleCommand | None:
    """The command of such a line in a folder, as ``shell.read`` gives it; None if the line is not certainly one."""
    words = command(line)
    if not words:
        return None
    texts = tuple([word.text for word in words])
    return SimpleCommand(texts, tuple(words), (), os.path.realpath(folder), "own", True, frozenset())


def commands(line: str) -> list[list[Word]]:
    """The words of each command of a line of plain commands; none if it is not certainly one.

    Behind a command of Python are the words of the script or module that it runs. For a word that is a pattern
    (``glob``) there may be others, but none by which the program runs another one.
    """
    lists = _split(line) if len(line) <= _LONGEST else []
    found: list[list[Word]] = []
    for words in lists if len(lists) <= _MOST else ():
        started = _started(words)
        if not started:
            return []
        found += started
    return [] if len(lists) > 1 and any(words[0].text in _ALONE for words in found) else found


def _started(words: list[Word]) -> list[list[Word]]:
    """The words of a command, and of the program that it starts if it is Python; none if it is not plain."""
    if words and words[0].text in _PYTHONS and not words[0].quoted and len(words) > 1:
        first = words[1].text
        rest = words[2:] if first == "-m" else words[1:]
        is_literal = not (words[1].quoted or words[1].glob)
        is_script = is_literal and first.endswith(".py") and "/" not in first and first[0] not in "-."
        is_known = is_script if first != "-m" else _is_plain(rest)
        return [words, rest] if is_known else []
    return [words] if _is_plain(words) else []


def _split(line: str) -> list[list[Word]]:
    """The words of each command, joined by ``&&``, ``||``, ``;`` or ``|``; none if a sign is not plain."""
    found: list[list[Word]] = [[]]
    word: Word | None = None
    at = 0
    while at < len(line):
        char = line[at]
        if char in _PLAIN or char in _PATTERN:
            word = word or Word()
            word.text += char
            word.glob = word.glob or char in _PATTERN
            if word.text == "2" and line.startswith(_REDIRECTIONS[:2], at):
                at, word = _redirected(line, at), None
                if not at:
                    return []
                continue
            at += 1
        elif char in "'\"":
            end = line.find(char, at + 1)
            inside = line[at + 1 : end]
            if end < 0 or "\0" in inside or (char == '"' and not _is_literal(inside)):
                return []
            word = word or Word()
            word.quoted, word.text, at = True, word.text + inside, end + 1
        elif char == ">":
            at = 0 if word else _redirected(line, at)
            if not at:
                return []
        elif char in " ;&|":
            if word:
                found[-1].append(word)
            word = None
            if char != " ":
                if line.startswith(("&&", "||"), at):
                    at += 1
                elif char == "&" or line.startswith("|&", at):
                    return []
                found.append([])
            at += 1
        else:
            return []
    if word:
        found[-1].append(word)
    for words in found:
        for one in words:
            one.head = one.tail = one.text
    return found


def _is_literal(inside: str) -> bool:
    """True if a text in double quotes means what it reads as."""
    if not _EXPANDED.isdisjoint(inside):
        return False
    return "\\" not in inside or all((part or '"')[0] not in _ESCAPED for part in inside.split("\\")[1:])


def _redirected(line: str, at: int) -> int:
    """Where a redirection ends that names no file; 0 if it is another one."""
    for sign in _REDIRECTIONS:
        if line.startswith(sign, at) and (line[at + len(sign) : at + len(sign) + 1] or " ") in _AFTER:
            return at + len(sign)
    return 0


def _is_plain(words: list[Word]) -> bool:
    """True if the words are a program that certainly starts no other, and what it gets."""
    if not words or words[0].quoted:
        return False
    name = words[0].text
    if name in SPECIAL or not name[0].isalpha() or not _NAME.issuperset(name) or name[:4] == "git-":
        return False
    if name[-1].isdigit() and name.rstrip("0123456789-") in SPECIAL:  # a version
        return False
    if name in ("make", "gmake") and any(_may_hold_rule(word.text) for word in words):
        return False
    handing = HANDING.get(name, ())
    if (handing or name == "git") and any(word.glob for word in words):
        return False
    if name == "git":
        given = words[1].text if len(words) > 1 else ""
        if given not in OF_GIT:
            return False
        handing = (*OF_GIT[given], "ext::")
    return not any(word.text.startswith(handing) or _may_calculate(word) for word in words[1:])


def _may_hold_rule(text: str) -> bool:
    """True for a word of make that may hold a rule or a calculation, which runs a command."""
    return (text[:1] == "-" and "E" in text) or "$" in text or "!=" in text


def _may_calculate(word: Word) -> bool:
    """True for a text that some programs take for the index of an array, in which a command may stand."""
    return word.quoted and "[" in word.text and ("$(" in word.text or "`" in word.text)
