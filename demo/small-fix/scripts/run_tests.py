"""Runs the tests of the project; exit code 0 if they pass."""

import sys
import unittest

result = unittest.TextTestRunner(sys.stdout, verbosity=0).run(unittest.TestLoader().discover("."))
sys.exit(0 if result.wasSuccessful() and result.testsRun else 1)
