"""``python -m skills``, or this file by its path: the ``lockstep`` command."""

import os
import sys

if not __package__:
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from skills.lib.commands import main

if __name__ == "__main__":
    main()
