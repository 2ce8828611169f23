"""What a core skill contributes to the run of another skill: rules, tools and a policy."""

from __future__ import annotations

from skills.lib.field_checks import shown
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    AnyWorkflow = TypeVar("AnyWorkflow", bound=Record)

# Tools that only look, and that a step with the whole shell could replace by it anyway.
_LOOKING = ("read", "search")
_IN_A_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


class Layer(Record):
    """A core skill beneath another skill's run: its ``forbidden``, ``tools`` and ``policy`` hold in every step of it.

    ``skill`` is the core's name, and ``policy`` the name of a YAML file in its folder ``scripts``. How ``tools`` narrow
    those of a step is said by ``narrowed``. ``phase`` is the one that the run was opened for.
    """

    skill: str
    forbidden: Sequence[str] = ()
    tools: Sequence[str] = ()
    policy: str = ""
    phase: str = ""

    def _check(self) -> None:
        if not self.skill or not _IN_A_NAME.issuperset(self.skill):
            raise ValueError(f"layer {shown(self.skill)} is not the name of a skill")
        if self.policy:
            from skills.lib.model import step_checks

            step_checks.check_policy(self.policy, f"layer {shown(self.skill)}")


def narrowed(tools: Sequence[str], layers: Sequence[Layer]) -> tuple[str, ...]:
    """The tools of a step with these layers beneath it.

    Of each kind (``shell``, ``mcp`` …) that both name, the narrower entry stays; a kind that a layer does not name is
    not its matter. A step with the whole shell also gets the ``read`` and ``search`` of a layer, by which it can do the
    same. A step that names no tools allows all, and stays so: a policy holds there too.
    """
    found = list(tools)
    for layer in layers if tools else ():
        kinds = {_kind(tool) for tool in layer.tools}
        kept = [tool for tool in found if _kind(tool) not in kinds]
        both = [narrow for tool in found for own in layer.tools for narrow in _narrower(tool, own)]
        looking = [tool for tool in _LOOKING if tool in layer.tools and "shell" in both]
        wanted = {*kept, *both, *looking}
        found = [tool for tool in dict.fromkeys([*found, *both, *looking]) if tool in wanted]
    return tuple(found)


def lost_kinds(tools: Sequence[str], layers: Sequence[Layer]) -> list[str]:
    """The kinds of tools that a step would lose whole to these layers."""
    left = {_kind(tool) for tool in narrowed(tools, layers)}
    return [kind for kind in dict.fromkeys(map(_kind, tools)) if kind not in left]


def layered(workflow: AnyWorkflow, layers: Sequence[Layer]) -> AnyWorkflow:
    """The same workflow with these layers beneath it, which its fingerprint covers."""
    made: AnyWorkflow = object.__new__(type(workflow))
    kept = {name: getattr(workflow, name) for name in type(workflow).__slots__}  # type: ignore[attr-defined]
    made._set(**{**kept, "layers": tuple(layers), "_fingerprint": ""})
    return made


def _kind(tool: str) -> str:
    return tool.partition("(")[0]


def _narrower(tool: str, own: str) -> tuple[str, ...]:
    """The narrower of two names of tools, alone in a tuple; empty if neither is a part of the other."""
    if tool == own or _is_part(tool, own):
        return (tool,)
    return (own,) if _is_part(own, tool) else ()


def _is_part(tool: str, whole: str) -> bool:
    """True if ``whole`` names every call that ``tool`` names: ``shell(git push)`` is a part of ``shell(git)``."""
    return whole == _kind(tool) or (tool.startswith("shell(") and tool.startswith(f"{whole[:-1]} "))
