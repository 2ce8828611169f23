"""Asks git which test files the working tree lacks, without running a program that the project configures."""

from __future__ import annotations

import os
import re
import time

from skills.lib.git import Git, GitProblem

# Seconds that git may take, and how many files are named.
PATIENCE, NAMED = 5, 50
_TEST_FOLDERS = frozenset("test tests __tests__ spec specs testing".split())
# test_shop.py, shop_test.go, shop.spec.ts; ShopTest.java, TestShop.cs.
_TEST_FILE = re.compile(r"(?i:(?:^|[._-])(?:tests?|specs?)(?:[._-]|$))|(?:Tests?|Spec)\.\w+$|^Test[A-Z]")


def removed_tests(project: str) -> list[str]:
    """The test files of HEAD that are missing from the working tree, as paths below the project; at most NAMED.

    Empty if the project is not a checkout, or git is missing or too slow.
    """
    if not _is_in_checkout(project):
        return []
    # Neither reads the content of a file in the working tree: that would run the filters that the project configures.
    missing = _git(project, "ls-files", "--deleted", "-z")
    staged = _git(project, "diff-index", "--cached", "--name-only", "--diff-filter=D", "--relative", "-z", "HEAD", "--")
    found = sorted({path for path in (*missing, *staged) if is_test(path)})
    return [path for path in found if not os.path.lexists(os.path.join(project, path))][:NAMED]


def is_test(path: str) -> bool:
    """True if the name of the file, or of a folder above it, is one that test files have."""
    *folders, name = path.split("/")
    return bool(_TEST_FILE.search(name)) or any(folder.lower() in _TEST_FOLDERS for folder in folders)


def _is_in_checkout(folder: str) -> bool:
    at = os.path.realpath(folder)
    while not os.path.exists(os.path.join(at, ".git")):
        if at == os.path.dirname(at):
            return False
        at = os.path.dirname(at)
    return True


def _git(project: str, *words: str) -> list[str]:
    """The paths that git prints; none if it fails."""
    try:
        printed = Git(project, deadline=time.monotonic() + PATIENCE).output(*words)
    except GitProblem:
        return []
    return [os.fsdecode(path) for path in (printed or b"").split(b"\0") if path]
