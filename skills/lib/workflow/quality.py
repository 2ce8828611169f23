"""Quality reviews: the construct that builds a review loop, and the rules that its verdict follows."""

from skills.lib.engine.verdicts import banner as banner
from skills.lib.engine.verdicts import blocking as blocking
from skills.lib.engine.verdicts import blocking_now as blocking_now
from skills.lib.engine.verdicts import blocking_severities as blocking_severities
from skills.lib.engine.verdicts import check_same as check_same
from skills.lib.engine.verdicts import state as state
from skills.lib.engine.verdicts import verdict as verdict
from skills.lib.model.items import read_items as read_items
from skills.lib.model.review_loop import review_loop as review_loop
from skills.lib.model.types import BOUND as BOUND
