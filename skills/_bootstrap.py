"""The name that older entry scripts import ``main`` from."""

from skills.bootstrap import main as main
