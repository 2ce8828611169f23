"""Writes Markdown to a file of the project, a blank line between the blocks: ``write_md.py PATH BLOCK…``."""

import os
import sys

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4)))

from skills.lib.gateway import writing

if __name__ == "__main__":
    sys.exit(writing.serve("write_md.py PATH BLOCK...", lambda blocks: "\n\n".join(blocks).rstrip("\n") + "\n", 1))
