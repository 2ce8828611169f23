"""Turns a legacy skill script into a Workflow, by reading its source: the script is never run.

``reading`` takes the module apart, ``execution`` follows its main function once per step with the step's number put
in, ``printing`` says what comes out, ``graph`` makes steps and routes of it, ``writing`` the three files, ``files``
puts them in place. What cannot be told from the source is a Refusal, with its line.
"""

from __future__ import annotations

from skills.lib.migration.migrate import Migration, migrate
from skills.lib.migration.refusals import Refusal, Unprovable

__all__ = ["Migration", "Refusal", "Unprovable", "migrate"]
