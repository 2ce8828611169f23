"""What a session says to its model beside the block of the step."""

from __future__ import annotations

from skills.lib.agent.prompt import Sections
from skills.lib.blocks.xml import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.agent.following import Following

BASE = (
    "You carry out a skill on your own: nobody reads along and nobody answers. The mandatory skill below has one step "
    "at a time, and what it says comes first. Do the step with the tools that you are offered, then report it with "
    "report_step, alone in its message; the next step then stands in place of this one. Prose reports nothing. If "
    "something cannot be done, report what you found instead of guessing, and if nothing is left to try call abort."
)
BEGIN = "Begin with the step in the mandatory skill."
GO_ON = "Go on: the run is at the step in the mandatory skill."
LOST = (
    "The conversation of this run is lost, or it was on another machine. The step in the mandatory skill is complete "
    "in itself. Go on with it."
)

ANEW = (
    "This step begins anew: what its conversation held is not kept. The step in the mandatory skill is complete in "
    "itself. Look at what was done so far before you repeat anything."
)


def sections(following: Following, around: Sections, own: str = "") -> Sections:
    """What stands in the system prompt around the block: a program's own sections and prompt, and ours."""
    task = following.task()
    lines = [f"Working directory: {escape(following.runner.command_line.project)}"]
    lines += [f"<task>{escape(task)}</task>"] if task else []
    return around.changed(
        base="\n\n".join(filter(None, (own, around.base, following.base() or BASE))),
        memory="\n\n".join(filter(None, (around.memory, following.memory()))),
        environment="\n".join(filter(None, (around.environment, *lines))),
    )
