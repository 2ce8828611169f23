"""``lockstep new``."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from string import Template

import click

from skills.lib.blocks.command_line import quote
from skills.lib.commands.console.options import examples, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.errors import EnvironmentProblem, RefusedError, UsageError
from skills.lib.files import write_folder
from skills.lib.hosts import skills
from skills.lib.skillfile import discover
from skills.lib.skillfile.specification import NAME, NAME_LIMIT

_COMPATIBILITY = "compatibility: Needs Python 3.11 or later with the package lockstep-skills.\n"
_TEMPLATES = Path(__file__).with_name("skeleton")


@click.command(
    epilog=examples(
        "lockstep new release-notes  # in the project's skills folder",
        "lockstep new release-notes --dir .claude/skills  # where a host looks for skills",
        "lockstep new release-notes --yaml  # the graph as workflow.yaml, without Python",
        "lockstep new release-notes --dry-run  # only show what would be written",
    )
)
@click.argument("name")
@click.option(
    "--dir", "folder", metavar="DIR", type=click.Path(), help="The folder of skills (default: PROJECT/skills)."
)
@click.option("--yaml", "as_yaml", is_flag=True, help="Write the graph as workflow.yaml, and compile it.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@project_option
@click.pass_obj
def new(screen: Screen, name: str, folder: str | None, as_yaml: bool, dry_run: bool, project: str) -> None:
    """Make the skill NAME: SKILL.md, a small gated graph with its prompts, an entry script, and a test.

    It runs, is valid and is tested as it stands; edit it from there.
    """
    _check_name(name)
    target = os.path.join(_real(folder or os.path.join(project, "skills"), project), name)
    if os.path.lexists(target):
        raise RefusedError(f"{target} exists already, and nothing is overwritten", remedy="another name, or --dir DIR")
    contents = files(name, target, as_yaml)
    if not dry_run:
        try:
            write_folder(target, {file: text.encode() for file, (_, text) in contents.items()})
        except OSError as error:
            raise EnvironmentProblem(f"{target} cannot be written: {error.strerror}", remedy="--dir DIR") from error
    shown = os.path.relpath(target)
    shown = target if shown.startswith("..") else shown
    screen.print(screen.styled(f"{'Would write' if dry_run else 'Wrote'} {shown}", "bold"))
    screen.table(("FILE", "WHAT IT IS"), [[file, what] for file, (what, _) in contents.items()])
    if name in [skill.name for skill in discover(skills.shipped())]:
        means = "in this project the name means the new one"
        screen.say(f"note: a skill that comes with Lockstep is called {name}, too; {means}")
    if not dry_run:
        screen.print("")
        screen.print(screen.styled("Next", "bold"))
        screen.table(("COMMAND", "WHAT FOR"), _next_commands(name, shown, as_yaml))


def _real(folder: str, project: str) -> str:
    """The folder, links followed; RefusedError if it is in the project and a link leads out of that."""
    top, real = os.path.realpath(project), os.path.realpath(folder)
    places = [os.path.join(root, "") for root in (top, os.path.abspath(project))]
    if os.path.abspath(folder).startswith(tuple(places)) and not os.path.join(real, "").startswith(places[0]):
        raise RefusedError(
            f"{folder} leads out of the project, to {real}", remedy=f"--dir {quote(real)}, if that is meant"
        )
    return real


def _check_name(name: str) -> None:
    """UsageError for a name that the Agent Skills specification does not allow; a nearby one is offered."""
    if NAME.fullmatch(name) and len(name) <= NAME_LIMIT:
        return
    words = re.findall(r"[a-z0-9]+", name.lower())
    offered = "-".join(words)[:NAME_LIMIT].strip("-")
    raise UsageError(
        f"{name!r:.100} is not a name for a skill",
        valid=f"a-z, 0-9 and single hyphens between them, at most {NAME_LIMIT} characters",
        remedy=f"lockstep new {offered}" if offered else "lockstep new code-review",
    )


def files(name: str, target: str, as_yaml: bool = False) -> dict[str, tuple[str, str]]:
    """Every file of the skill by its path below the skill's folder: what it is, and its text."""
    snake = name.replace("-", "_")
    words = {
        "name": name,
        "snake": snake,
        "title": name.replace("-", " "),
        "heading": name.replace("-", " ").capitalize(),
        # A skill beside the shipped ones brings its own Lockstep along.
        "compatibility": "" if os.path.dirname(target) == os.path.realpath(skills.shipped()) else _COMPATIBILITY,
    }
    graph = ("the graph: steps, routes, what each records", _template_text("workflow.py", words))
    texts = ("what each step says", _template_text("prompts.md", words))
    test = ("walks every transition of the graph", _template_text("test.py", words))
    found = {
        "SKILL.md": ("when an agent uses the skill, and its first command", _template_text("skill.md", words)),
        f"scripts/{snake}.py": ("the entry, which stays as it is", _template_text("entry.py", words)),
    }
    if as_yaml:
        graph = (graph[0], _template_text("workflow.yaml", words))
        texts = (texts[0], _template_text("workflow.md", words))
        compiled = _compiled(name, {"workflow.yaml": graph[1], "workflow.md": texts[1]})
        return {**found, "workflow.yaml": graph, "workflow.md": texts, **compiled, f"tests/test_{snake}.py": test}
    written = {f"scripts/{snake}_workflow.py": graph, f"scripts/{snake}_prompts.md": texts}
    return {**found, **written, f"tests/test_{snake}.py": test}


def _compiled(name: str, sources: dict[str, str]) -> dict[str, tuple[str, str]]:
    """The JSON that steps are printed from and the seal, as ``lockstep validate --seal`` writes them."""
    from skills.lib.graphfile.compiling import compile_file  # a graph in Python needs none of it
    from skills.lib.validation import registration

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / name
        place.mkdir()
        for file, text in sources.items():
            (place / file).write_text(text, encoding="utf-8")
        graph = compile_file(str(place / "workflow.yaml"))
        return {
            f"scripts/{os.path.basename(graph.target)}": ("compiled, for a step to read", graph.to_json()),
            f"scripts/{name}.seal": ("says that the graph is valid", registration.text(graph.workflow)),
        }


def entry_script(name: str) -> str:
    """The text of the entry script of a skill."""
    return _template_text("entry.py", {"name": name})


def _next_commands(name: str, shown: str, as_yaml: bool) -> list[list[str]]:
    """The commands with which its author goes on, each with what it is for."""
    folder = quote(shown)
    snake = name.replace("-", "_")
    graph = "workflow.yaml" if as_yaml else f"scripts/{snake}_workflow.py"
    where = folder if os.sep in shown else f".{os.sep}{folder}"
    return [
        [f"${{EDITOR:-vi}} {folder}/{graph}", f"edit the graph, and the {'texts' if as_yaml else 'prompts'} beside it"],
        [
            f"lockstep validate {'--seal ' if as_yaml else ''}{folder}",
            "check it, and compile it" if as_yaml else "check it",
        ],
        [f"lockstep walk {where}", "play the agent"],
        [f"lockstep graph {where}", "see the graph"],
        [f"python3 -m pytest {folder}", "walk every transition"],
    ]


def _template_text(template: str, words: dict[str, str]) -> str:
    text = _TEMPLATES.joinpath(f"{template}.template").read_text(encoding="utf-8")
    return Template(text).substitute(words)
