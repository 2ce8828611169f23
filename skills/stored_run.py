"""The step script of a run whose workflow is in no file: it is rebuilt from the definition in the ledger."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from skills.bootstrap import check_python

check_python()

from skills.lib.runtime.serving import main  # noqa: E402

if __name__ == "__main__":
    main()
