"""Lockstep: coding agents follow skills, one printed step at a time. This package names what programs import.

Each name is the very object of the library ``skills.lib``, which is loaded when a name of it is first used. A skill's
graph may import from here, too: an installed or exported copy brings both packages along (docs/authoring.md).
"""

from lockstep import library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.blocks.command_line import CommandLine
    from skills.lib.blocks.refused import Refusal
    from skills.lib.errors import (
        EnvironmentProblem,
        HandlerError,
        InvalidWorkflow,
        LedgerError,
        LockstepError,
        RefusedError,
        SkillError,
        UnsealedWorkflow,
        UsageError,
    )
    from skills.lib.gateway.functions import safe_cli_executor, safe_py_runner
    from skills.lib.gateway.gateway import Gateway, GatewayResult
    from skills.lib.ledger.history import Event
    from skills.lib.ledger.ledger import Ledger
    from skills.lib.model.requirements import Arg, Artifact, Command, Field
    from skills.lib.model.review_loop import review_loop
    from skills.lib.model.run import Request, Run
    from skills.lib.model.steps import StepDef, Workflow
    from skills.lib.model.types import (
        AgentRole,
        Before,
        Check,
        Choice,
        Confidence,
        Dispatch,
        Gate,
        ItemStatus,
        NeverEndsFailed,
        Outcome,
        Passes,
        Person,
        QRStatus,
        Severity,
        StepContext,
        person,
    )
    from skills.lib.prompts import read_prompts
    from skills.lib.runtime.loading import load_workflow
    from skills.lib.runtime.peeking import Peek
    from skills.lib.runtime.project import Response
    from skills.lib.runtime.runner import Runner
    from skills.lib.runtime.script import main
    from skills.lib.testing.agent import Agent
    from skills.lib.testing.samples import any_of
    from skills.lib.testing.session import Session
    from skills.lib.testing.transitions import every_transition
    from skills.lib.testing.walks import every_walk
    from skills.lib.validation.registration import register_workflow

# Where each name is defined, below skills.lib.
_MODULES = {
    "blocks.command_line": "CommandLine",
    "blocks.refused": "Refusal",
    "errors": "EnvironmentProblem HandlerError InvalidWorkflow LedgerError LockstepError RefusedError SkillError"
    " UnsealedWorkflow UsageError",
    "gateway.functions": "safe_cli_executor safe_py_runner",
    "gateway.gateway": "Gateway GatewayResult",
    "ledger.history": "Event",
    "ledger.ledger": "Ledger",
    "model.requirements": "Arg Artifact Command Field",
    "model.review_loop": "review_loop",
    "model.run": "Request Run",
    "model.steps": "StepDef Workflow",
    "model.types": "AgentRole Before Check Choice Confidence Dispatch Gate ItemStatus NeverEndsFailed Outcome Passes"
    " Person QRStatus Severity StepContext person",
    "prompts": "read_prompts",
    "runtime.loading": "load_workflow",
    "runtime.peeking": "Peek",
    "runtime.project": "Response",
    "runtime.runner": "Runner",
    "runtime.script": "main",
    "testing.agent": "Agent",
    "testing.samples": "any_of",
    "testing.session": "Session",
    "testing.transitions": "every_transition",
    "testing.walks": "every_walk",
    "validation.registration": "register_workflow",
}

__all__ = [
    "Agent",
    "AgentRole",
    "Arg",
    "Artifact",
    "Before",
    "Check",
    "Choice",
    "Command",
    "CommandLine",
    "Confidence",
    "Dispatch",
    "EnvironmentProblem",
    "Event",
    "Field",
    "Gate",
    "Gateway",
    "GatewayResult",
    "HandlerError",
    "InvalidWorkflow",
    "ItemStatus",
    "Ledger",
    "LedgerError",
    "LockstepError",
    "NeverEndsFailed",
    "Outcome",
    "Passes",
    "Peek",
    "Person",
    "QRStatus",
    "Refusal",
    "RefusedError",
    "Request",
    "Response",
    "Run",
    "Runner",
    "Session",
    "Severity",
    "SkillError",
    "StepContext",
    "StepDef",
    "UnsealedWorkflow",
    "UsageError",
    "Workflow",
    "any_of",
    "every_transition",
    "every_walk",
    "load_workflow",
    "main",
    "person",
    "read_prompts",
    "register_workflow",
    "review_loop",
    "safe_cli_executor",
    "safe_py_runner",
]


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names.split():
            found = globals()[name] = getattr(library.load(f"skills.lib.{module}"), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
