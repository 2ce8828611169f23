"""Runs the test, lint and type commands of a plan for a review of finished work; ends with 1 if one of them fails."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from plandata.checks import main  # type: ignore[import-not-found]

if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))
