"""The words and values of a workflow: outcomes, roles, dispatch, gates, questions."""

from skills.lib.model.types import AgentRole as AgentRole
from skills.lib.model.types import Before as Before
from skills.lib.model.types import Check as Check
from skills.lib.model.types import Confidence as Confidence
from skills.lib.model.types import Dispatch as Dispatch
from skills.lib.model.types import Element as Element
from skills.lib.model.types import Gate as Gate
from skills.lib.model.types import ItemStatus as ItemStatus
from skills.lib.model.types import NeverEndsFailed as NeverEndsFailed
from skills.lib.model.types import Outcome as Outcome
from skills.lib.model.types import Passes as Passes
from skills.lib.model.types import Person as Person
from skills.lib.model.types import QRStatus as QRStatus
from skills.lib.model.types import Rendered as Rendered
from skills.lib.model.types import Severity as Severity
from skills.lib.model.types import is_word as is_word
from skills.lib.model.types import person as person
from skills.lib.record import Record as Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.model.standalone import BranchRouting as BranchRouting
    from skills.lib.model.standalone import GateConfig as GateConfig
    from skills.lib.model.standalone import LinearRouting as LinearRouting
    from skills.lib.model.standalone import QRState as QRState
    from skills.lib.model.standalone import Routing as Routing
    from skills.lib.model.standalone import Step as Step
    from skills.lib.model.standalone import TerminalRouting as TerminalRouting
    from skills.lib.model.types import Targets as Targets
    from skills.lib.model.types import Then as Then

# What only an author's own script uses: a step does not load it.
_STANDALONE = frozenset("QRState GateConfig LinearRouting BranchRouting TerminalRouting Routing Step".split())


def __getattr__(name: str) -> object:
    if name in _STANDALONE:
        from skills.lib.model import standalone

        return getattr(standalone, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
