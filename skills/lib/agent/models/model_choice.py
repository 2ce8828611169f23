"""Which model a call is made with: that of the command, else of the step, of the skill, of the user; each made once."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from skills.lib.agent.configuration import lockstep_toml
from skills.lib.agent.configuration.configured_keys import ALIASES
from skills.lib.agent.models import aliases, chat_models
from skills.lib.agent.runs import log
from skills.lib.errors import UsageError
from skills.lib.model.types import Dispatch
from skills.lib.skillfile import SkillFileError, load_skill

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from skills.lib.agent.configuration.lockstep_toml import Configuration
    from skills.lib.model.run import Run
    from skills.lib.model.steps import StepDef, Workflow


class ModelChoice:
    """The models of an agent's sessions.

    ``given`` is a chat model or a name that holds for every call, whatever a step or a skill names. Without it, a
    step's own model holds, then that of the sub-agent, then that of the skill, then LOCKSTEP_MODEL, then the user's
    configuration. ``base_url`` is an endpoint of the provider of the model that none of these names.
    """

    def __init__(self, given: BaseChatModel | str | None, base_url: str, in_force: Configuration) -> None:
        self._given, self._configuration = given, in_force
        self._base_url = base_url or in_force.base_url
        self._made: dict[str, BaseChatModel] = {}
        self._told: set[str] = set()
        self._lock = threading.Lock()

    def name(self, *wanted: str) -> str:
        """The model, as ``provider:name``, for the first of ``wanted`` that is not empty; "" if none is set.

        Raises UsageError if the command or the user names an alias that stands for no model.
        """
        if self._given is not None and not isinstance(self._given, str):
            return chat_models.name_of(self._given)
        default = self._default()
        named = self._given or next((name for name in wanted if name.strip()), "") or default
        if not named:
            return ""
        found = self._of_alias(named, default) if aliases.is_alias(named) else self._with_provider(named, default)
        if found or named == self._given or not default:
            return found or self._none(named, default)
        if named not in self._told:
            self._told.add(named)
            log.warning("%s stands for no model of %s: %s is used", named, aliases.provider_of(default), default)
        return default

    def model(self, *wanted: str) -> BaseChatModel:
        """The chat model of ``name``."""
        if self._given is not None and not isinstance(self._given, str):
            return chat_models.chat_model(self._given)
        name = self.name(*wanted)
        with self._lock:
            if name not in self._made:
                is_own = aliases.provider_of(name) == aliases.provider_of(self._default() or name)
                url = self._base_url if is_own or self._given else ""
                self._made[name] = chat_models.chat_model(name, url)
            return self._made[name]

    def names(self, workflow: Workflow, skill: str) -> list[str]:
        """The names of all models that the steps of a workflow and their sub-agents may be done with."""
        wanted = [step.model or "" for step in workflow.steps]
        wanted += [step.handler.model or "" for step in workflow.steps if isinstance(step.handler, Dispatch)]
        return list(dict.fromkeys(name for one in wanted if (name := self.name(one, skill))))

    def of_step(self, run: Run, step: StepDef | None, skill: str) -> BaseChatModel:
        """The model for the present step of a run; ``skill`` is the name that its SKILL.md has."""
        return self.model((step.model if step else "") or "", str((run.spec or {}).get("model") or ""), skill)

    def _default(self) -> str:
        """The model of calls for which nothing else names one; "" if none is set."""
        named = os.environ.get(chat_models.MODEL, "").strip() or self._configuration.model
        if not aliases.is_alias(named):
            return named
        return self._of_alias(named, "") or self._none(named, "")

    def _of_alias(self, alias: str, default: str) -> str:
        """The model of an alias: the user's own, else that of the provider, unless an endpoint has its own models."""
        provider = aliases.provider_of(default) or chat_models.provider_with_key()
        return aliases.of_alias(
            alias, self._configuration.models, "" if chat_models.is_own_endpoint(provider, self._base_url) else provider
        )

    def _with_provider(self, named: str, default: str) -> str:
        """The model of a name that may have no provider, as those in a SKILL.md for another host; "" for another's."""
        if ":" in named or named in (self._given, default) or not default:
            return named
        provider = aliases.provider_of(default)
        return f"{provider}:{named}" if chat_models.probable_provider(named) == provider else ""

    def _none(self, alias: str, default: str) -> str:
        """Raise UsageError for an alias that stands for no model."""
        provider = aliases.provider_of(default) or chat_models.provider_with_key()
        raise UsageError(
            f"{alias} stands for no model of {provider or 'a provider: no key of one is set'}",
            valid=f"{', '.join(ALIASES[:3])} of {', '.join(aliases.MODELS)}; or provider:name",
            remedy=f'set [agent.models] {alias.lower()} = "provider:name" in {lockstep_toml.user_file()}',
        )


def of_skill(folder: str) -> str:
    """The model that the SKILL.md of a folder names, under ``metadata`` or at the top; "" if it names none."""
    try:
        found = load_skill(folder).metadata
    except SkillFileError:
        return ""
    metadata = found.get("metadata")
    named = (metadata.get("model") if isinstance(metadata, dict) else None) or found.get("model")
    return named.strip() if isinstance(named, str) and named.strip() != "inherit" else ""
