"""Whether the exit code of a program shows that what a rule names was done, here, and to its end."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# With these any program only shows what it would do.
_DRY = ("--dry-run", "--help", "--version", "--collect-only", "--list", "--no-run", "--just-print", "--recon")
# Letters by which a program does nothing, makes little of a failure, or works elsewhere; then those with a value.
_OF_MAKE, _OF_NODE, _OF_PYTEST = ("nqthvieCfoE", "IWljOd"), ("hCw", ""), ("hVc", "kmnpoWr")
_LETTERS = {
    **dict.fromkeys(("make", "gmake"), _OF_MAKE),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _OF_NODE),
    **dict.fromkeys(("pytest", "py.test"), _OF_PYTEST),
    "tox": ("hlac", "e"),
    "nox": ("hlf", "s"),
}
# The same in whole words, of which a part is enough.
_WORDS_OF_MAKE = (
    "--dry-run --just-print --recon --touch --question --help --version --ignore-errors --directory --file --makefile"
    " --old-file --assume-old --eval --environment-overrides"
).split()
_WORDS_OF_PYTEST = (
    "--fixtures --fixtures-per-test --funcargs --markers --setup-plan --setup-only --setupplan --setuponly --cache-show"
    " --rootdir --config-file --collectonly --co"
).split()
_WORDS = {
    **dict.fromkeys(("make", "gmake"), _WORDS_OF_MAKE),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("--prefix", "--cwd", "--dir", "--if-present", "--workspace")),
    **dict.fromkeys(("pytest", "py.test"), _WORDS_OF_PYTEST),
    "tox": ("--notest", "--showconfig", "--conf"),
    "nox": ("--noxfile",),
    "cargo": ("--manifest-path",),
    "go": ("-C", "-list", "-c", "-n"),
}


# What a word may hold by which a program runs none of its tests.
_HOLDING = {**dict.fromkeys(("pytest", "py.test"), ("addopts",)), "go": ("-count=0",)}


def shows(name: str, args: Sequence[str | None], rule: Sequence[str]) -> bool:
    """True if a program with these arguments does what a rule's words say; an option that the rule names is meant."""
    given = [word for word in args if word is not None]
    if len(given) < len(args) or any(word.startswith(_DRY) for word in given):
        return False
    if name in ("make", "gmake") and any(word[:1] != "-" and "=" in word for word in given):
        return False  # a variable may take the place of a program
    if any(sign in word for sign in _HOLDING.get(name, ()) for word in given):
        return False
    named = "".join(word[1:] for word in rule if word[:2] != "--" and word[:1] == "-")
    words = [word for word in _WORDS.get(name, ()) if word not in rule]
    return not any(_is_long(word, words) or _has_letter(name, word, named) for word in given)


def _is_long(word: str, words: Sequence[str]) -> bool:
    name = word.partition("=")[0]
    return name in words or (len(name) > 3 and name[:2] == "--" and any(one.startswith(name) for one in words))


def _has_letter(name: str, word: str, named: str) -> bool:
    """True if one of the options that stand in a word by a letter each is such a one."""
    letters, valued = _LETTERS.get(name, ("", ""))
    for letter in word[1:] if word[:1] == "-" and word[:2] != "--" else "":
        if letter in letters and letter not in named:
            return True
        if letter in valued:
            break
    return False
