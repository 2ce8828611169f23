"""Runs the test, lint and type commands of a plan, in the project's root; ends with 1 if one of them fails."""

import sys

from plandata.checks import main  # type: ignore[import-not-found]

if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))
