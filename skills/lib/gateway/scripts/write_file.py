"""Writes standard input to a file of the project: ``write_file.py PATH < text``."""

import os
import sys

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4)))

from skills.lib.gateway import writing

if __name__ == "__main__":
    usage = "write_file.py PATH, the content on standard input"
    sys.exit(writing.serve(usage, lambda _: writing.standard_input(), 0, most=0))
