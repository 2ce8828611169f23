"""Entry of the leon-writing-style skill; SKILL.md says how to begin."""

import os
import sys

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

from skills._bootstrap import main

main(__file__, "leon_writing_style_workflow")
