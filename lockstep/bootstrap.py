"""The ``main`` of an entry script that finds another package ``skills`` before Lockstep's."""

import sys

from lockstep import library

try:
    main = library.load("skills.bootstrap").main
except ImportError as error:  # Hidden, or what the other package itself fails to import
    sys.stderr.write("lockstep: %s\n" % error)
    sys.exit(4)
