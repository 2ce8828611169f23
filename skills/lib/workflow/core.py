"""What a graph is made of, and its registration."""

from skills.lib.model.steps import REGISTRY as REGISTRY
from skills.lib.model.steps import TOOLS as TOOLS
from skills.lib.model.steps import Registered as Registered
from skills.lib.model.steps import StepContext as StepContext
from skills.lib.model.steps import StepDef as StepDef
from skills.lib.model.steps import Workflow as Workflow
from skills.lib.model.steps import digest as digest
from skills.lib.model.types import RESERVED_FLAGS as RESERVED_FLAGS
from skills.lib.model.types import Outcome as Outcome
from skills.lib.validation.registration import register_workflow as register_workflow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.model.steps import Handler as Handler
