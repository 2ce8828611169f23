"""The ``main`` of an entry script that finds another package ``skills`` before Lockstep's."""

import sys

from lockstep import library

try:
    main = library.load("skills.bootstrap").main
except library.Hidden as hidden:
    sys.stderr.write("lockstep: %s\n" % hidden)
    sys.exit(4)
