"""Keeps a plan as data, in the project's root: ``plan_data.py --help`` tells its commands."""

import sys

from plandata.command import main  # type: ignore[import-not-found]

if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))
