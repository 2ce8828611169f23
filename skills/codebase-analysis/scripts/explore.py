"""Entry of the explorers of codebase-analysis, the sub-agents that read one area each."""

import os
import sys

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

try:
    from skills.bootstrap import main
except ImportError:
    try:  # another package skills is nearer on the path
        from lockstep.bootstrap import main
    except ImportError:
        sys.stderr.write("lockstep: the package lockstep-skills is not installed for %s\n" % sys.executable)
        sys.stderr.write("  try:   a Python that has it, such as .venv/bin/python; or pip install /path/to/lockstep\n")
        sys.exit(4)

main(__file__)
