"""The manifests that make this repository a plugin or an extension of a host; docs/generate.py writes and checks them.

The whole repository is the plugin: Claude Code, Codex and Gemini CLI copy its root, find ``skills/`` there, and with it
the package that every entry script climbs to. Claude Code loads ``hooks/hooks.json`` by itself and Gemini CLI knows no
other place, and the two have different events; so there is no file of that name, and Gemini CLI gets its hooks from
``lockstep install gemini``.
"""

from __future__ import annotations

import json
import os
import tomllib
from typing import Any

from skills import __version__
from skills.lib.hosts.install import hooks

NAME = "lockstep"
TITLE = "Lockstep"
# Each host's name for the folder that it copied the plugin to.
_ROOTS = {"claude": "${CLAUDE_PLUGIN_ROOT}", "codex": "${PLUGIN_ROOT}"}
# What Codex offers as a first request; at most three, each of 128 characters.
_PROMPTS = (
    "Use codebase-analysis to find out how this project is built.",
    "Use problem-analysis to find out why this test fails.",
    "Use planner to plan this change.",
)


def files(root: str) -> dict[str, str]:
    """The text of each manifest by its path in the repository at ``root``; the facts come from its pyproject.toml."""
    with open(os.path.join(root, "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    about = {"name": NAME, "version": __version__, "description": project["description"]}
    author = {"name": project["authors"][0]["name"]}
    plugin = {**about, "author": author, "license": project["license"], "keywords": project["keywords"]}
    made = {
        ".claude-plugin/plugin.json": {**plugin, "hooks": "./hooks/claude.json"},
        ".claude-plugin/marketplace.json": _claude_marketplace(about, author),
        ".codex-plugin/plugin.json": {
            **plugin,
            "skills": "./skills/",
            "hooks": "./hooks/codex.json",
            "interface": _interface(about, author),
        },
        ".agents/plugins/marketplace.json": _codex_marketplace(),
        "gemini-extension.json": about,
        "hooks/claude.json": plugin_hooks("claude"),
        "hooks/codex.json": plugin_hooks("codex"),
    }
    return {path: json.dumps(data, indent=2, ensure_ascii=False) + "\n" for path, data in made.items()}


def plugin_hooks(host: str) -> dict[str, Any]:
    """The hooks of a plugin: each event calls the hook of the copy that the host made, by the Python on the PATH."""
    command = f'python3 -IS "{_ROOTS[host]}/skills/lib/hosts/hook/run_hook.py" --host {host}'
    kept = ('"$HOME/.local/state/lockstep/facts"', '"$HOME/.local/state/lockstep/openings"')
    after = f"{hooks.has_use_for_results(*kept)} || exit 0; exec {command}"
    hook = {"type": "command", "command": "", "timeout": hooks.TIMEOUT}
    commands = {event: after if event in hooks.RESULTS else command for event in hooks.EVENTS[host]}
    return {
        "hooks": {
            event: [{**({"matcher": "*"} if matched else {}), "hooks": [{**hook, "command": commands[event]}]}]
            for event, matched in hooks.EVENTS[host].items()
        }
    }


def _claude_marketplace(about: dict[str, str], author: dict[str, str]) -> dict[str, Any]:
    """One plugin, which is the repository itself."""
    entry = {"name": NAME, "source": "./", "description": about["description"], "category": "development"}
    return {"name": NAME, "owner": author, "description": about["description"], "plugins": [entry]}


def _codex_marketplace() -> dict[str, Any]:
    entry = {
        "name": NAME,
        "source": {"source": "local", "path": "./"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_USE"},
        "category": "Productivity",
    }
    return {"name": NAME, "interface": {"displayName": TITLE}, "plugins": [entry]}


def _interface(about: dict[str, str], author: dict[str, str]) -> dict[str, Any]:
    return {
        "displayName": TITLE,
        "shortDescription": "Skills that an agent follows one printed step at a time",
        "longDescription": about["description"],
        "developerName": author["name"],
        "category": "Productivity",
        "capabilities": ["Read", "Write"],
        "defaultPrompt": list(_PROMPTS),
    }
