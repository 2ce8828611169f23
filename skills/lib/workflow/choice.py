"""The flag by which a common entry script hands over to one of several."""

from skills.lib.model.types import Choice as Choice
