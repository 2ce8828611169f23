"""Parameters of a workflow, and what must be true to leave a step."""

from skills.lib.model.requirements import TYPES as TYPES
from skills.lib.model.requirements import Arg as Arg
from skills.lib.model.requirements import Artifact as Artifact
from skills.lib.model.requirements import Command as Command
from skills.lib.model.requirements import Field as Field
from skills.lib.model.requirements import Requirement as Requirement
from skills.lib.model.requirements import fill as fill
