"""A plan as data: its form, its versions, its diffs and its waves. The standard library and Lockstep's own checker."""

from __future__ import annotations

import os
import sys

root = os.path.realpath(__file__)
for _ in range(5):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)
