"""The files of an installed skill: texts and graphs that people read and edit, and thin scripts.

    SKILL.md, resources/*.md                        the texts
    scripts/**/x_workflow.py, x_prompts.md          the graphs and what their steps say
    workflow.yaml, workflow.md, x_workflow.json     the same of a graph in YAML, and what it is compiled to
    scripts/**/x.py                                 thin: finds the runtime that it names, and hands over
    scripts/**/<workflow>.seal                      only if the skill is not Lockstep's own

The code that checks evidence is not copied from a shipped skill: the runtime has it (``paths.of_skill`` finds it). A
skill of the user's own is copied with all of its code.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from string import Template

from skills.lib import paths
from skills.lib.hosts.install import source
from skills.lib.runtime import loading

# Linters and type checkers of the project leave these files alone.
_HEAD = source.MARK + b". %s\n# ruff: noqa\n# ruff: noqa: PGH004\n# fmt: off\n# mypy: ignore-errors\n"
_EDITABLE = _HEAD % b"What you change in it is kept."
_THIN = _HEAD % b"lockstep upgrade writes it again."
_NEEDS = re.compile(rb"^compatibility: Needs Python 3\.11 or later with the package lockstep-skills\.\n", re.MULTILINE)
_LOADED = re.compile(rb'load_module\(.*"(\w+\.py)"\)')
_NAMED = re.compile(rb"\b\w+\.py\b")
_ROLE = re.compile(rb'AgentRole\.([A-Z_]+)|(?:Dispatch\(\s*|"\$kind":"Dispatch","agent":)"([a-z-]+)"')
_FIND = """data = os.environ.get("LOCKSTEP_DATA", "")
if not os.path.isabs(data):
    data = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_DATA_HOME", "")
    if not os.path.isabs(data):
        data = os.path.join(os.path.expanduser("~"), ".local", "share")
    data = os.path.join(data, "lockstep")
root = os.path.join(data, "runtimes", "{version}")"""


def contents(folder: str, version: str) -> dict[str, bytes]:
    """The files of the skill in ``folder`` for a project, by path below the skill's folder there; seals are not in it.

    ``version`` is that of the runtime that the scripts find.
    """
    own = source.files(folder)
    python = {name for name in own if name.startswith("scripts/") and name.endswith(".py")}
    entries = {name for name in python if source.is_entry(name, own)}
    found = {name: _NEEDS.sub(b"", data) for name, data in own.items() if name not in python}
    is_shipped = source.is_shipped(folder)
    # Modules of the user's own may be beside the script; those of a shipped skill are in the runtime.
    own_folder = "del sys.path[0]" if is_shipped else "sys.path.append(sys.path.pop(0))"
    found |= {name: _script(version, "main", "main(__file__)", own_folder) for name in entries}
    if is_shipped:
        skill = os.path.basename(folder)
        found = {
            name: data for name, data in found.items() if not name.endswith(".json") or name.endswith(paths.COMPILED)
        }
        found |= {name: _edited(own[name]) for name in _graph(own)}
        for name in _called_by_hand(own, python - found.keys()):
            call = f'run_helper(__file__, "{skill}/{name}")'
            found[name] = _script(version, "run_helper", call, own_folder)
    else:
        find = _FIND.format(version=version).replace("\\", "\\\\").encode()
        found |= {name: _edited(source.CLIMB.sub(find, own[name], count=1)) for name in python - entries}
    return dict(sorted(found.items()))


def dispatched_roles(folder: str) -> set[str]:
    """The roles of the sub-agents that the skill starts, as its graphs name them; no code is run."""
    texts = [data for name, data in source.files(folder).items() if name.endswith((".py", paths.COMPILED))]
    found = [match for text in texts for match in _ROLE.findall(text)]
    return {(constant.lower().replace(b"_", b"-") or name).decode() for constant, name in found}


def _graph(own: dict[str, bytes]) -> set[str]:
    """The modules of the skill's graphs: those that register or choose a workflow, and those that they load."""
    found = {name for name in own if name.startswith("scripts/") and name.endswith((loading.SUFFIX, loading.CHOICE))}
    loaded = {f"{os.path.dirname(name)}/{part.decode()}" for name in found for part in _LOADED.findall(own[name])}
    return found | (loaded & own.keys())


def _called_by_hand(own: dict[str, bytes], helpers: set[str]) -> list[str]:
    """The helper scripts that a text of the skill tells the agent to run; of two with the same name the outer one."""
    named = {part.decode() for name, data in own.items() if name.endswith(".md") for part in _NAMED.findall(data)}
    found: dict[str, str] = {}
    for name in sorted(helpers, key=lambda name: (name.count("/"), name)):
        if os.path.basename(name) in named and b"__main__" in own[name]:
            found.setdefault(os.path.basename(name), name)
    return list(found.values())


def _edited(data: bytes) -> bytes:
    first, line, rest = data.partition(b"\n") if data.startswith(b"#!") else (b"", b"", data)
    return first + line + _EDITABLE + rest


def _script(version: str, function: str, call: str, own_folder: str) -> bytes:
    template = Path(__file__).with_name("script.py.template").read_text(encoding="utf-8")
    words = {"head": _THIN.decode(), "find": _FIND.format(version=version), "package": version.partition("+")[0]}
    words |= {"version": version, "function": function, "call": call, "own": own_folder}
    return Template(template).substitute(words).encode()
