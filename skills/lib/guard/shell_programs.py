"""Tables of the programs that start others: which of their words are options, and where the other command begins."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Wrapper:
    """The options of a program that starts another, and how many words stand before the other's name.

    ``flags`` and ``valued`` are letters; the long names are without their dashes. If not ``keeps``, the exit code is no
    longer that of the other command.
    """

    __slots__ = ("flags", "keeps", "long_flags", "long_valued", "operands", "takes_variables", "valued")

    def __init__(
        self,
        flags: str,
        valued: str,
        long_flags: Sequence[str],
        long_valued: Sequence[str],
        operands: int,
        keeps: bool,
        takes_variables: bool,
    ) -> None:
        self.flags = flags
        self.valued = valued
        self.long_flags = long_flags
        self.long_valued = long_valued
        self.operands = operands
        self.keeps = keeps
        self.takes_variables = takes_variables


def _wrapper(
    flags: str = "", valued: str = "", long: str = "", operands: int = 0, keeps: bool = True, variables: bool = False
) -> Wrapper:
    """A wrapper whose long options stand in one text; one that takes a value ends with ``=``."""
    names = long.split()
    plain = tuple([name for name in names if name[-1] != "="])
    return Wrapper(
        flags, valued, plain, tuple([name[:-1] for name in names if name[-1] == "="]), operands, keeps, variables
    )


_DIGITS = "0123456789"
WRAPPERS = {
    "env": _wrapper("i0v", "uC", "ignore-environment null debug unset= chdir=", variables=True),
    "sudo": _wrapper(
        "AbEHnPSkK",
        "CghpRTuUrt",
        "background preserve-env set-home non-interactive stdin user= group= host= prompt= chdir=",
        variables=True,
    ),
    "doas": _wrapper("n", "uC"),
    "timeout": _wrapper("v", "sk", "preserve-status foreground verbose signal= kill-after=", operands=1),
    "gtimeout": _wrapper("v", "sk", "preserve-status foreground verbose signal= kill-after=", operands=1),
    "nohup": _wrapper(),
    "setsid": _wrapper("w", "", "wait"),
    "nice": _wrapper(_DIGITS, "n", "adjustment="),
    "ionice": _wrapper("t", "cn", "ignore class= classdata="),
    "chrt": _wrapper("abfiomrR", "", "", operands=1),
    "taskset": _wrapper("c", "", "cpu-list", operands=1),
    "stdbuf": _wrapper("", "ioe", "input= output= error="),
    "unbuffer": _wrapper("p"),
    "time": _wrapper("apvq", "of", "append portability verbose quiet output= format="),
    "command": _wrapper("p"),
    "builtin": _wrapper(),
    "exec": _wrapper("cl", "a"),
    "noglob": _wrapper(),
    "-": _wrapper(),
    "nocorrect": _wrapper(),
    "chronic": _wrapper("ve"),
    "caffeinate": _wrapper("dimsu", "tw"),
    "fakeroot": _wrapper(),
    "flock": _wrapper("xesnFuo", "wE", "exclusive shared nonblock unlock close no-fork timeout= wait=", operands=1),
    "strace": _wrapper("fFqrtTvxyC", "eosaEpPu"),
    "ltrace": _wrapper("fFqrtTSC", "eosau"),
    "xvfb-run": _wrapper("a", "nes", "auto-servernum server-num= error-file= server-args="),
    "busybox": _wrapper(),
    "toybox": _wrapper(),
    "npx": _wrapper("yq", "p", "yes no quiet no-install prefer-offline package="),
    "bunx": _wrapper("", "p", "bun silent verbose package="),
    "uvx": _wrapper("qv", "p", "quiet verbose isolated with= from= python= index-url="),
    "xargs": _wrapper(
        "0rtpxo",
        "nPILsdEa",
        "null no-run-if-empty verbose interactive exit open-tty max-args= max-procs= max-lines max-chars= "
        "delimiter= arg-file= replace",
        keeps=False,
    ),
}
_UV = _wrapper(
    "qvUm",
    "p",
    "quiet module verbose no-sync frozen locked isolated no-project all-extras all-groups no-dev offline active exact "
    "with= python= extra= group= package= directory= project= env-file= with-editable= with-requirements= index-url=",
)
_PLAIN = _wrapper("qv", "", "quiet verbose")
_NODE = _wrapper("yqc", "p", "yes silent quiet package= workspace=")
# Program -> subcommand -> what stands between the subcommand and the other command.
RUNNERS = {
    "uv": {"run": _UV},
    "poetry": {"run": _PLAIN},
    "pipenv": {"run": _PLAIN},
    "pdm": {"run": _PLAIN},
    "rye": {"run": _PLAIN},
    "hatch": {"run": _PLAIN},
    "pixi": {
        "run": _wrapper("qv", "e", "quiet verbose frozen locked environment="),
        "exec": _wrapper("qv", "sc", "quiet verbose spec= channel="),
    },
    "bundle": dict.fromkeys(("exec", "exe", "ex", "e"), _wrapper("", "", "keep-file-descriptors")),
    "npm": {"exec": _NODE, "exe": _NODE, "x": _NODE, "explore": _wrapper(operands=1)},
    "pnpm": {"exec": _NODE, "dlx": _NODE},
    "yarn": {"exec": _NODE, "dlx": _NODE, "workspace": _wrapper(operands=1)},
    "bun": {"x": _NODE, "run": _NODE},
    "lerna": {"exec": _wrapper()},
    "conda": {"run": _wrapper("v", "np", "no-capture-output live-stream verbose name= prefix= cwd=")},
    "mamba": {"run": _wrapper("v", "np", "no-capture-output live-stream verbose name= prefix= cwd=")},
    "pyenv": {"exec": _wrapper()},
    "rbenv": {"exec": _wrapper()},
    "nodenv": {"exec": _wrapper()},
    "asdf": {"exec": _wrapper()},
    "mise": {"exec": _wrapper("", "C"), "x": _wrapper("", "C")},
    "direnv": {"exec": _wrapper(operands=1)},
    "dotenv": {"run": _wrapper()},
    "pipx": {"run": _wrapper("", "", "spec= python=")},
}
# Program -> a subcommand of it behind which one of those stands.
NESTING = {"uv": "tool", "hatch": "env", "yarn": "workspaces"}
# The subcommands by which these run nothing that their words name.
KEEPING = {"dotenv": frozenset(("get", "set", "list", "unset", "--version", "--help"))}
SHELLS = frozenset(
    "sh bash zsh dash ksh mksh ash fish csh tcsh rbash posh yash oksh lksh pdksh hush osh pwsh powershell cmd nu xonsh"
    " elvish".split()
)
PYTHONS = frozenset(("python", "python2", "python3", "pypy", "pypy3", "py", "pythonw"))
# Each reads a program from its standard input, or from an option.
INTERPRETERS = frozenset(
    "node nodejs deno bun perl ruby php lua luajit tclsh wish rscript r julia osascript ghci octave gnuplot groovy"
    " guile racket elixir raku jshell qjs".split()
)
# Modules of Python that run what they read, and those that run a script.
READING, RUNNING = frozenset(("code", "asyncio")), frozenset(("cprofile", "profile", "trace", "runpy", "coverage"))
# The beginnings of names of files that are open already.
OPEN_FILES = ("/dev/stdin", "/dev/fd/", "/proc/")
ASKED = frozenset(("--version", "--help", "-V", "-h", "-v", "--check", "--test"))
# These run what they are given, or later, or elsewhere, in ways that are not read here.
OPAQUE = frozenset(
    "eval source . alias fc bind complete compgen enable hash let coproc repeat parallel watch entr ssh su runuser"
    " emulate sched zargs zmv"
    " script at batch crontab tmux screen expect gdb lldb nodemon watchexec onchange concurrently hyperfine socat"
    " chroot unshare nsenter setpriv systemd-run start-stop-daemon run-parts pkexec sg firejail bwrap proot"
    " vim vi nvim ex ed emacs nix-shell start call iex invoke-expression start-process start-job wsl rlwrap dbus-launch"
    " timeit pdb ipython command_not_found_handle foreman honcho mshta wscript cscript rundll32 forfiles".split()
)
# Each starts a program that one of its words names; which of them is not read here.
STARTERS = frozenset(
    "prlimit setarch linux32 linux64 i386 i486 i586 i686 x86_64 uname26 capsh choom runcon uclampset coresched numactl"
    " cgexec systemd-inhibit systemd-cat dbus-run-session eatmydata faketime torsocks torify proxychains proxychains4"
    " sshpass ssh-agent valgrind perf catchsegv gosu su-exec tini dumb-init cpulimit logsave fakechroot sem daemonize"
    " dotenvx doppler op chamber aws-vault envdir envchain chpst softlimit setlock pv".split()
)
# The endings of scripts that a shell reads.
SCRIPT_ENDINGS = (".sh", ".bash", ".zsh", ".ksh", ".fish", ".csh", ".command", ".ps1")
# The beginnings of options that hand a command to a program.
HANDING = {
    "tar": ("--checkpoint-", "--to-c", "--us", "--rs", "--rm", "--inf", "--new-", "-I", "-F"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "scp": ("-S", "-o"),
    "sftp": ("-S", "-o", "-b"),
    "sort": ("--co",),
    "jobs": ("-x",),
    "go": ("-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool"),
    **dict.fromkeys(("mongosh", "mongo"), ("--eval",)),
    "split": ("--filter", "--f"),
    "rg": ("--pre", "--hostname-bin"),
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
    "fdfind": ("-x", "-X", "--exec", "--exec-batch"),
    "zip": ("-TT", "--unzip-command"),
    "man": ("-P", "--pager", "-H", "--html"),
    "less": ("+",),
    "more": ("+",),
    **dict.fromkeys(
        ("make", "gmake"), ("--eval", "--ev", "SHELL=", ".SHELLFLAGS", ".DEFAULT_GOAL", "MAKEF", "GNUMAKEF")
    ),
    "wget": ("-e", "--execute", "--use-askpass"),
    "sqlite3": ("-cmd", "--cmd", ".s", "-init"),
    "mapfile": ("-C",),
    "readarray": ("-C",),
    "nix": ("-c", "--command"),
    "npm": ("-c", "--call", "--script-shell"),
    "npx": ("-c", "--call"),
    "flock": ("-c", "--command"),
}
# Options of a letter that hand a command to a program, and those with a value, behind which no option stands.
LETTERS = {
    "rsync": ("e", "fBTM"),
    "scp": ("So", "cDFiJlPX"),
    "sftp": ("Sob", "BcDFiJlPRs"),
    **dict.fromkeys(("fd", "fdfind"), ("xX", "deEtScjo")),
    "man": ("PH", "CRLmMSserEpTK"),
}
# What a word may hold by which these run a command.
HOLDING = {
    "sqlite3": ("|", "edit("),
    "psql": ("\\!", "|", "`", "program"),
    **dict.fromkeys(("mysql", "mariadb"), ("\\!", "\\p", "\\e", "system", "pager", "edit")),
    "dc": ("!",),
    **dict.fromkeys(("make", "gmake"), ("$", "!=")),
    "strace": ("|", "!"),
}
# With a pipe or a document on its standard input, each of these reads commands.
FED = frozenset("sqlite3 psql mysql mariadb ftp sftp telnet redis-cli mongo mongosh m4 dc".split())
# Builtins that calculate the index of an array, in which a command can stand.
INDEXING = frozenset(
    "test [ printf read unset declare typeset local readonly export mapfile readarray wait getopts print exit return"
    " shift break continue logout set integer float getln sysread zstat zparseopts vared strftime zformat".split()
)
# What these variables are set to, a program runs as a command line, if they end so.
LINES = ("PAGER", "EDITOR", "VISUAL", "_COMMAND", "_ASKPASS", "BROWSER")
# What these variables are set to changes what other words mean; they begin so.
STEERING = (
    *("LD_", "DYLD_", "BASH_ENV", "BASH_FUNC", "SHELLOPTS", "BASHOPTS", "PS0", "PS1", "PS2", "PS4", "ZDOTDIR"),
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_NAMESPACE", "GIT_COMMON_DIR", "GIT_ALLOW_PROTOCOL", "XDG_CONFIG_HOME"),
    *("GIT_CONFIG", "GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_TEMPLATE_DIR", "GIT_PROXY", "GIT_SSH", "GIT_ALTERNATE"),
    *("MAKEFILES", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS", "PYTHONSTARTUP", "IFS"),
    *("PERL5DB", "TAR_OPTIONS", "RSYNC_RSH", "LESSOPEN", "LESSCLOSE"),
)

GIT_FLAGS = frozenset(
    "-p --paginate -P --no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs"
    " --icase-pathspecs --no-optional-locks --no-lazy-fetch --no-advice --html-path --man-path --info-path --version"
    " --help -v -h --exec-path".split()
)
GIT_VALUED = frozenset("-C --git-dir --work-tree --namespace --attr-source --super-prefix --list-cmds".split())
# Settings that run nothing, by the beginnings of their names.
GIT_SETTINGS = (
    *("user.", "author.", "committer.", "color.", "advice.", "init.defaultbranch", "commit.gpgsign", "tag.gpgsign"),
    *("core.quotepath", "core.autocrlf", "core.filemode", "core.abbrev", "core.longpaths", "core.ignorecase"),
    *("diff.renames", "diff.renamelimit", "merge.conflictstyle", "gc.auto"),
    *("branch.", "fetch.", "pull.", "push.", "rebase.", "merge.ff", "core.eol", "core.safecrlf", "core.excludesfile"),
    *("diff.algorithm", "diff.colormoved", "rerere.", "format.", "column.", "url.", "lfs.url", "submodule.recurse"),
    *("http.postbuffer", "http.sslverify", "http.lowspeed", "protocol.version", "safe.directory", "log.", "status."),
)
# Settings that name a command line.
GIT_LINES = ("core.pager", "core.editor", "sequence.editor", "core.sshcommand", "core.askpass")
# git's own commands: any other one is an alias, or a program of somebody else.
GIT_COMMANDS = frozenset(
    "add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap"
    " check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree"
    " config count-objects credential describe diff diff-files diff-index diff-tree difftool fast-export fast-import"
    " fetch filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc grep hash-object help"
    " http-push index-pack init interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo maintenance merge"
    " merge-base merge-file merge-index merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes"
    " pack-objects pack-refs patch-id prune pull push range-diff read-tree rebase reflog remote repack replace"
    " request-pull rerere reset restore rev-list rev-parse revert rm send-email send-pack shortlog show show-branch"
    " show-index show-ref sparse-checkout stage stash status stripspace submodule subtree switch symbolic-ref tag"
    " unpack-objects update-index update-ref update-server-info var verify-commit verify-pack verify-tag version"
    " whatchanged worktree write-tree".split()
)
# The option of a git command after which a command line stands.
GIT_HANDING = {
    "rebase": ("-x", "--exec", "--ex"),
    "difftool": ("-x", "--extcmd", "--ext"),
    "fetch": ("--upload-pack", "--upl"),
    "pull": ("--upload-pack", "--upl"),
    "clone": ("-u", "--upload-pack", "--upl", "-c", "--config", "--conf", "--template", "--templ"),
    "ls-remote": ("--upload-pack", "--upl", "--exec"),
    "push": ("--receive-pack", "--rec", "--exec", "--ex"),
    "send-pack": ("--receive-pack", "--exec"),
    "archive": ("--exec", "--ex"),
    "grep": ("-O", "--open"),
    "init": ("--template", "--templ"),
}
# The same by a letter, with the letters of options that have a value.
GIT_LETTERS = {
    "rebase": ("x", "sXCS"),
    "difftool": ("x", "tgOSGU"),
    "clone": ("uc", "boj"),
    "grep": ("O", "efABCm"),
}
GIT_OPAQUE = frozenset(("filter-branch", "for-each-repo", "send-email", "credential", "mergetool", "maintenance"))

# Programs that change no file, and what each of git's commands may change; any other one may change everything.
LOOKING = frozenset(
    "cat cd echo printf true false : test [ ls pwd head tail wc grep egrep fgrep rg cut tr uniq which type id whoami"
    " date basename dirname realpath readlink stat file du df env printenv sleep seq diff cmp jq md5sum sha1sum"
    " sha256sum export set unset read local declare tput less more tree uname hostname ps exit return"
    " time command exec timeout nohup nice sudo xargs".split()
)
GIT_LOOKING = frozenset(
    "add annotate blame cat-file check-attr check-ignore config count-objects describe diff diff-files diff-index"
    " diff-tree fetch for-each-ref fsck grep help log ls-files ls-remote ls-tree merge-base name-rev reflog remote"
    " rev-list rev-parse shortlog show show-branch show-ref stage status tag var verify-commit version"
    " whatchanged push".split()
)
