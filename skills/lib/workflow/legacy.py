"""What scripts of before Lockstep import."""

from skills.lib.compat.legacy import LegacySkill as LegacySkill
from skills.lib.compat.legacy import LegacyWarning as LegacyWarning
from skills.lib.compat.legacy import arguments as arguments
from skills.lib.compat.legacy import note as note
from skills.lib.compat.legacy import skill as skill
