"""The tables of docs/operating.md, from the keys of lockstep.toml and the models that aliases stand for."""

from __future__ import annotations

from skills.lib.agent.configuration.configured_keys import ANY, KEYS
from skills.lib.agent.models.aliases import MODELS


def settings() -> str:
    """One row for each key: what it takes, its default, who sets it, what it does."""
    rows = ["| setting | takes | default | set by | what it does |", "|---|---|---|---|---|"]
    for key in KEYS:
        name = key.path.replace(f".{ANY}", ".NAME")
        rows.append(f"| `{name}` | {key.kind.valid} | {_shown(key.default)} | {key.who} | {key.about} |")
    return "\n".join(rows)


def aliases() -> str:
    """One row for each provider, with the model that each alias stands for."""
    names = list(next(iter(MODELS.values())))
    rows = [f"| provider | {' | '.join(f'`{name}`' for name in names)} |", "|---" * (len(names) + 1) + "|"]
    for provider, models in MODELS.items():
        rows.append(f"| `{provider}` | {' | '.join(models[name] for name in names)} |")
    return "\n".join(rows)


def _shown(default: object) -> str:
    if default is None or default == () or default == {}:
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:,}" if isinstance(default, int) else str(default)
