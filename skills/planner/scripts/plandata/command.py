"""The command line of plan_data.py, which is run in the project's root.

It ends with 0, with 1 where the plan has faults, 2 for a wrong call, 4 where something outside the plan is missing or
broken.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
from typing import Any

from . import form, markdown, store
from .apply import apply
from .collect import collected
from .faults import ENVIRONMENT, USAGE, PlanError, nearest
from .lists import lists
from .outside import AT_FIRST, outside
from .places import plan_folder
from .stages import STAGES, faults_at, unworkable_files
from .waves import waves

KINDS = ("code", "documentation")
WHAT = "Keeps a plan as data: saves versions, checks them, shows them, and computes its diffs and waves."


def schema(_: argparse.Namespace) -> None:
    """Print the JSON Schema of a plan."""
    print(form.resource("plan.schema.json"), end="")


def example(_: argparse.Namespace) -> None:
    """Print a small plan that is complete and valid."""
    print(form.resource("plan-example.json"), end="")


def save(given: argparse.Namespace) -> None:
    """Check a draft and keep it as the next version; the draft in the plan's folder then gets the layout of that."""
    root = os.getcwd()
    plan = form.parse(_draft(given.draft), given.draft)
    _held(plan, given.stage, root, given.draft)
    _workable(plan, root, given.draft)
    folder = plan_folder(given.plan_dir, root, create=True)
    known = store.versions(folder)
    saved = store.save(folder, plan, known[-1] if known else 0)
    _say(given, saved)
    if saved.new and os.path.realpath(given.draft) == os.path.join(os.path.realpath(folder), store.DRAFT):
        store.lay_out(given.draft, plan)


def check(given: argparse.Namespace) -> None:
    """Say whether the latest version is at a stage, and everything that keeps it from being."""
    number, plan = store.load(plan_folder(given.plan_dir, os.getcwd()))
    _held(plan, given.stage, os.getcwd(), f"plan.{number}.json")
    _workable(plan, os.getcwd(), f"plan.{number}.json")
    if given.json:
        print(json.dumps({"ok": True, "version": number, "stage": given.stage, "faults": []}))
    else:
        # What planner approves is the content that its last check named (executor_approval.py).
        content = f", content {form.content_id(plan)}" if given.stage == STAGES[-1] else ""
        print(f"plan.{number}.json is at stage {given.stage}: {len(plan['milestones'])} milestones{content}")


def show(given: argparse.Namespace) -> None:
    """Print a version, or one milestone of it with what it rests on."""
    number, plan = store.load(plan_folder(given.plan_dir, os.getcwd()), given.version)
    _held(plan, "draft", os.getcwd(), f"plan.{number}.json")
    if given.milestone:
        one = _milestone(plan, given.milestone)
        print(_json(one) if given.json else markdown.milestone_markdown(plan, one, cited=True))
    else:
        print(_json(plan) if given.json else markdown.as_markdown(plan, number), end="\n" if given.json else "")


def diff(given: argparse.Namespace) -> None:
    """Print what differs between two versions."""
    folder = plan_folder(given.plan_dir, os.getcwd())
    sides = [form.canonical(store.load(folder, number)[1]).split("\n") for number in (given.a, given.b)]
    names = (f"plan.{given.a}.json", f"plan.{given.b}.json")
    for line in difflib.unified_diff(sides[0], sides[1], *names, lineterm=""):
        print(line)


def render(given: argparse.Namespace) -> None:
    """Write the latest version as Markdown."""
    plan_in(given.plan_dir)
    print(os.path.relpath(store.render(plan_folder(given.plan_dir, os.getcwd()))))


def collect(given: argparse.Namespace) -> None:
    """Compute the changes from the copies under .changes/ and keep them as the next version."""
    root = os.getcwd()
    folder = plan_folder(given.plan_dir, root)
    number, plan = plan_in(given.plan_dir)
    new = collected(plan, folder, root)
    _held(new, "draft", root, "the collected plan")
    _say(given, store.save(folder, new, number))
    for one in new["milestones"]:
        for change in one["changes"]:
            added = sum(line.startswith("+") for line in change["diff"].split("\n")[2:])
            gone = sum(line.startswith("-") for line in change["diff"].split("\n")[2:])
            print(f"{one['id']} {change['id']} {change['file']} +{added} -{gone}")


def apply_to_tree(given: argparse.Namespace) -> None:
    """Put the changes of a milestone into the project's files; what is in them already is left alone."""
    one = milestone_of(given.plan_dir, given.id)
    for path, how in apply(one, os.getcwd()):
        print(f"{how}: {path}")
    if not one["changes"]:
        print(f"{one['id']} holds no changes; write what its intent says")


def waves_of(given: argparse.Namespace) -> None:
    """Print the waves in which the milestones can be carried out."""
    made = _waves(plan_in(given.plan_dir)[1])
    if given.json:
        print(json.dumps(made))
        return
    for kind, those in made.items():
        for at, wave in enumerate(those, 1):
            print(f"{kind} {at}: {', '.join(wave)}")


def _waves(plan: dict[str, Any]) -> dict[str, list[list[str]]]:
    return {kind: waves([one for one in plan["milestones"] if one["kind"] == kind]) for kind in KINDS}


def code(given: argparse.Namespace) -> None:
    """Print the ids of the milestones that change code."""
    _, plan = plan_in(given.plan_dir)
    names = [one["id"] for one in plan["milestones"] if one["kind"] == "code"]
    print(json.dumps(names) if given.json else "\n".join(names))


def work(given: argparse.Namespace) -> None:
    """Check that a plan fits the tree, and print as JSON what carrying it out takes: way, waves, files, promises.

    And how the rest of the project is as it begins.
    """
    number, plan = plan_in(given.plan_dir)
    _held(plan, "coded", os.getcwd(), f"plan.{number}.json")
    _workable(plan, os.getcwd(), f"plan.{number}.json")
    store.render(plan_folder(given.plan_dir, os.getcwd()))  # git keeps no parts
    beside = outside(plan, given.plan_dir, os.getcwd(), most=AT_FIRST)
    told = {"way": plan.get("way", "full"), "waves": _waves(plan), **lists(plan), "outside": beside}
    print(json.dumps(told, ensure_ascii=False))


def plan_in(argument: str) -> tuple[int, dict[str, Any]]:
    """The latest version of the plan in a folder, and its number; PlanError where it is none at stage draft."""
    root = os.getcwd()
    number, plan = store.load(plan_folder(argument, root))
    _held(plan, "draft", root, f"plan.{number}.json")
    return number, plan


def milestone_of(argument: str, name: str) -> dict[str, Any]:
    """A milestone of the latest version of the plan in a folder; PlanError where there is none of that id."""
    return _milestone(plan_in(argument)[1], name)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="plan_data.py", description=WHAT, allow_abbrev=False)
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    for function, words in (
        (schema, ""),
        (example, ""),
        (save, "plan_dir draft --stage"),
        (check, "plan_dir --stage --json"),
        (show, "plan_dir --milestone --version --json"),
        (diff, "plan_dir a b"),
        (render, "plan_dir"),
        (collect, "plan_dir"),
        (apply_to_tree, "plan_dir id"),
        (waves_of, "plan_dir --json"),
        (work, "plan_dir"),
        (code, "plan_dir --json"),
    ):
        name = function.__name__.partition("_")[0]
        command = commands.add_parser(name, help=function.__doc__, description=function.__doc__, allow_abbrev=False)
        command.set_defaults(function=function, json=False)
        for word in words.split():
            command.add_argument(word, **_ARGUMENTS[word])
    return made


_ARGUMENTS: dict[str, dict[str, Any]] = {
    "plan_dir": {"metavar": "PLAN_DIR", "help": "the plan's folder, relative to the project's root"},
    "draft": {"metavar": "DRAFT.json", "help": "the file with the plan to keep"},
    "a": {"metavar": "A", "type": int, "help": "the number of a version"},
    "b": {"metavar": "B", "type": int, "help": "the number of another version"},
    "id": {"metavar": "M-001", "help": "the id of a milestone"},
    "--stage": {"choices": STAGES, "default": "draft", "help": "what is demanded of it (default: draft)"},
    "--milestone": {"metavar": "M-001", "help": "only this milestone, with the decisions that it rests on"},
    "--version": {"metavar": "N", "type": int, "help": "this version in place of the latest"},
    "--json": {"action": "store_true", "help": "as JSON"},
}


def _draft(path: str) -> bytes:
    if not os.path.isfile(path):
        raise PlanError(f"there is no file {path!r:.200}", code=USAGE)
    try:
        with open(path, "rb") as file:
            content = file.read(form.LIMIT + 1)
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {error.strerror}", code=ENVIRONMENT) from None
    if len(content) > form.LIMIT:
        raise PlanError(f"{path} has more than {form.LIMIT:,} bytes, which no plan has", code=USAGE)
    return content


def _milestone(plan: Any, name: str) -> dict[str, Any]:
    known = {one["id"]: one for one in plan["milestones"]}
    if name not in known:
        raise PlanError(f"there is no milestone {name!r:.40}; valid: {nearest(name, known)}", code=USAGE)
    found: dict[str, Any] = known[name]
    return found


def _held(plan: Any, stage: str, root: str, name: str) -> None:
    faults = faults_at(plan, stage, root)
    if faults:
        raise PlanError(f"{name} is not at stage {stage}", faults)


def _workable(plan: dict[str, Any], root: str, name: str) -> None:
    faults = list(unworkable_files(plan, root))
    if faults:
        raise PlanError(f"{name} cannot be carried out", faults)


def _say(given: argparse.Namespace, saved: store.Saved) -> None:
    same = "" if saved.new else " (nothing has changed)"
    print(f"version {saved.version}{same}: {os.path.relpath(saved.path)}")


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1)


def _tell(error: PlanError, as_json: bool) -> None:
    if as_json:
        print(json.dumps(error.data(), ensure_ascii=False))
        return
    for fault in error.faults:
        print(fault)
    count = f": {len(error.faults)} fault{'s'[: len(error.faults) > 1]}, above" if error.faults else ""
    print(f"plan_data.py: {error.what}{count}")


def main(arguments: list[str]) -> int:
    """Carry out one command."""
    given = parser().parse_args(arguments)
    try:
        given.function(given)
    except PlanError as error:
        _tell(error, given.json)
        return error.code
    return 0
