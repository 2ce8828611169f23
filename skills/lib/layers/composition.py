"""What the core skills of a phase contribute to the run of an adapter, and how conflicts are settled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skills.lib.errors import SkillError
from skills.lib.model.layers import Layer, layered, lost_kinds, narrowed
from skills.lib.model.steps import Workflow


@dataclass(frozen=True)
class Composition:
    """An adapter's workflow with the layers beneath it, and in words what was settled between them."""

    workflow: Workflow
    layers: tuple[Layer, ...]
    settled: tuple[str, ...]

    @property
    def characters(self) -> int:
        """How many characters of rules the layers add to each block."""
        return sum(len(rule) for layer in self.layers for rule in layer.forbidden)


def layer_of(core: Workflow, skill: str, phase: str) -> Layer:
    """What a core skill contributes to a phase: its rules of every step, its tools and its policy."""
    return Layer(skill, core.forbidden, core.tools, core.policy, phase)


def composed(adapter: Workflow, layers: Sequence[Layer]) -> Composition:
    """The adapter with these layers. Raises SkillError if a step would lose all tools of a kind."""
    for step in adapter.steps:
        lost = lost_kinds(adapter.tools_of(step), layers)
        if lost:
            names = ", ".join(layer.skill for layer in layers)
            raise SkillError(
                f"{adapter.name}, step {step.id}: nothing is left of {', '.join(lost)} over {names}",
                remedy="take the core out of the phase, or let it name a wider tool",
            )
    return Composition(layered(adapter, layers), tuple(layers), tuple(_settled(adapter, layers)))


def _settled(adapter: Workflow, layers: Sequence[Layer]) -> Iterator[str]:
    """Each conflict with how it was settled: the narrower holds."""
    free = [step.id for step in adapter.steps if not adapter.tools_of(step)]
    with_tools = [layer.skill for layer in layers if layer.tools]
    if free and with_tools:
        cores = ", ".join(with_tools)
        yield f"{', '.join(free)} name no tools: those of {cores} narrow nothing there, its policy holds"
    for step in adapter.steps:
        before = adapter.tools_of(step)
        after = narrowed(before, layers)
        if after != before:
            yield f"{step.id}: tools {' '.join(after)}, not {' '.join(before)}"
    policies = [layer.skill for layer in layers if layer.policy]
    if adapter.policy and policies:
        yield f"the policies of {', '.join([*policies, adapter.name])} hold side by side: each may deny"
    own = {rule for step in adapter.steps for rule in adapter.forbidden_in(step)}
    for layer in layers:
        for rule in layer.forbidden:
            if rule in own:
                yield f"the rule {rule[:60]!r} of {layer.skill} stands in {adapter.name} too: printed once"
