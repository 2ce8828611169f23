"""Writes texts to a file of the project, each on a line: ``write_txt.py PATH TEXT…``."""

import os
import sys

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4)))

from skills.lib.gateway import writing

if __name__ == "__main__":
    sys.exit(writing.serve("write_txt.py PATH TEXT...", lambda texts: "\n".join([*texts, ""]), 1))
