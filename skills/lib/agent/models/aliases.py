"""The names haiku, sonnet and opus, which stand for a model of the user's provider."""

from __future__ import annotations

from collections.abc import Mapping

from skills.lib.agent.configuration.configured_keys import ALIASES

# A small and cheap model of the provider, a balanced one, and a powerful one.
MODELS = {
    "anthropic": {"haiku": "claude-haiku-5-5", "sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5"},
    "openai": {"haiku": "gpt-5.6-luna", "sonnet": "gpt-5.6-terra", "opus": "gpt-5.6-sol"},
    "google_genai": {
        "haiku": "gemini-3.5-flash-lite",
        "sonnet": "gemini-3.8-flash",
        "opus": "gemini-3.1-pro-preview",
    },
}


def provider_of(name: str) -> str:
    """The provider of ``provider:name`` as LangChain calls it; "" for a name without one."""
    provider, found, _ = name.partition(":")
    return provider.strip().lower().replace("-", "_") if found else ""


def is_alias(name: str) -> bool:
    """True if a name stands for a model by itself, without a provider."""
    return name.strip().lower() in ALIASES


def of_alias(name: str, own: Mapping[str, str], provider: str) -> str:
    """The model that an alias stands for: the user's ``own``, else the provider's; "" if it has none of that name."""
    alias = name.strip().lower()
    if alias in own:
        return own[alias]
    model = MODELS.get(provider, {}).get(alias, "")
    return f"{provider}:{model}" if model else ""
