"""What to do about a graph that is not where its script looks for it: imported only then."""

from __future__ import annotations

import os

from skills.lib import paths
from skills.lib.errors import nearest

WHERE = "the graph of a script x.py is in x_workflow.py beside it, or in workflow.yaml in its skill's folder"
_YAML = (".yaml", ".yml")


def remedy(graph: str) -> str:
    """What to do: how to rename or move the file that was probably meant; else where a graph is looked for."""
    scripts = os.path.dirname(os.path.abspath(graph))
    skill = os.path.dirname(scripts)
    stem = os.path.basename(graph).removesuffix(paths.MODULE).removesuffix(paths.COMPILED)
    wanted = [os.path.join(scripts, stem + paths.MODULE), os.path.join(scripts, f"{stem}_{paths.YAML}")]
    above = os.path.join(skill, paths.YAML)
    if paths.compiled_of(above) == os.path.join(scripts, stem + paths.COMPILED):
        wanted.insert(0, above)
    for place in wanted:
        if os.path.lexists(place):  # and it is no file, or somebody would have found it
            return f"{os.path.relpath(place, skill)} is not a regular file: replace it with a plain file"
    for place in wanted:
        for folder in (os.path.dirname(place), skill, scripts):
            found = _near(place, folder, stem)
            if found:
                old, new = (os.path.relpath(path, skill) for path in (os.path.join(folder, found), place))
                return f"rename {old} to {new}, in {skill}"
    return WHERE


def _near(wanted: str, folder: str, stem: str) -> str:
    """The file in a folder whose name is nearly that of ``wanted``, and which is no script and no other's graph."""
    name = os.path.basename(wanted)
    endings = _YAML if name.endswith(_YAML) else (".py",)
    try:
        names = [entry.name for entry in os.scandir(folder) if entry.is_file()]
    except OSError:
        return ""
    of_others = {one.removesuffix(".py") + paths.MODULE for one in names if one != stem + ".py"}
    found = nearest(name, [one for one in names if one.lower().endswith(endings) and one not in of_others])
    last = found.rpartition(".")[0].replace("-", "_").rpartition("_")[2]
    return found if nearest("workflow", [last]) else ""
