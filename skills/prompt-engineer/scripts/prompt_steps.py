"""What the four graphs of prompt-engineer share: their common steps, and the list of techniques."""

from __future__ import annotations

from skills.lib.prompts import read_prompts, read_resource
from skills.lib.workflow.core import StepContext, StepDef
from skills.lib.workflow.requirements import Artifact, Command, Field
from skills.lib.workflow.types import Outcome, person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from skills.lib.workflow.requirements import Requirement

    Ways = Mapping[Outcome, tuple[str | None, str]]

PROMPTS = read_prompts(__file__)
CLOSING = PROMPTS["closing"]
SCOPES = ("single-prompt", "ecosystem", "greenfield", "problem")

RUN = ("triage.folder", "triage.files", "understand.keep")
FOLDER, FILES, KEEP = (f"{{{name}}}" for name in RUN)
QUESTION = """Shall these changes be made?
{approve.summary}
The whole difference: {triage.folder}/changes.diff
yes: they are made, and the old texts kept. revise: say what should be different; it is passed on word for word, as
--reason beside the answer. stop: nothing is changed."""

CASES = Field("cases", "list", minimum=2, maximum=8, help='each "input | what is right | what comes today; run or not"')
CASES_ARE_CASES = Command(["check_prompts.py", "cases", "{cases}", "3"], 60, help="each case has its three parts")
# Of one prompt what comes today is said once, by the finding.
SHORT_CASES: list[Requirement] = [
    Field("cases", "list", minimum=2, maximum=8, help='each "input | what is right"; what came, if it was run'),
    Command(["check_prompts.py", "cases", "{cases}", "2"], 60, help="each case has its two parts"),
]
HELD: list[Requirement] = [
    Field(
        "held",
        "list",
        maximum=8,
        required=False,
        help='only if findings is []: for each case "file | "passage" | case, and how this makes it right"',
    ),
    Command(
        ["check_prompts.py", "held", "{cases}", "{findings}", "{held}"], 60, help="no fault: a passage for each case"
    ),
]
PURPOSE = Field("purpose", minimum=20, maximum=600, help="given what, it yields what, for whom, who then does what")
KEPT = Field("keep", "list", maximum=30, help="exact strings that survive every change; [] where there are none")
KEPT_IS_THERE = Command(["check_prompts.py", "keep", "{keep}", FILES], 60, help="each stands in one of the prompts")
NOTED = Command(
    ["check_prompts.py", "noted", FOLDER, FILES, "{findings}"], 60, help="a plan can name each by its number"
)
REJECTED = Field("rejected", "list", minimum=1, maximum=2, help='each "technique | why not here"')
PLANNED: list[Requirement] = [
    Artifact(f"{FOLDER}/plan.json", help="an object for each change"),
    Command(["check_prompts.py", "plan", FOLDER, FILES, KEEP], 60, help="each passage stands, each technique exists"),
    Command(["check_prompts.py", "entries", FOLDER, FILES], 60, records="entries", help="what the used techniques say"),
]


def quoted(field: str) -> Command:
    """The check that each entry of a field quotes what stands in its file."""
    return Command(
        ["check_prompts.py", "quotes", f"{{{field}}}"], 60, help=f"each passage of {field} stands in its file"
    )


def quoted_in_one(field: str) -> Command:
    """The check that each entry of a field quotes what stands in the one prompt, without naming it."""
    checked = ["check_prompts.py", "quotes-one", FILES, f"{{{field}}}"]
    return Command(checked, 60, help=f"each passage of {field} stands in the prompt")


def techniques() -> str:
    """A line for each technique: its name, and when it is used."""
    lines = [PROMPTS["techniques"], ""]
    for entry in read_resource(__file__, "techniques.md").split("\n## ")[1:]:
        name, _, body = entry.partition("\nUse when: ")
        when, _, _ = body.partition("\nNot when: ")
        lines.append(f"   {name}: {' '.join(when.split())}")
    return "\n".join(lines)


def fits(ctx: StepContext) -> Outcome:
    """OK in this scope, FAIL if another fits."""
    return Outcome.OK if ctx.step_state.get("fits", "yes") == "yes" else Outcome.FAIL


def found(ctx: StepContext) -> Outcome:
    """End where no fault was found: a prompt that works is left alone."""
    return Outcome.OK if ctx.step_state["findings"] else Outcome.SKIP


def settle(ctx: StepContext) -> Outcome:
    """Check anew what was mended; end where every change was dropped."""
    verdicts = [verdict.rpartition("|")[2].strip() for verdict in ctx.step_state["verdicts"]]
    if "mended" in verdicts:
        return Outcome.ITERATE
    return Outcome.OK if "kept" in verdicts else Outcome.SKIP


def settle_draft(ctx: StepContext) -> Outcome:
    """Check anew what was mended; a draft remains one, however many techniques were dropped."""
    mended = [verdict for verdict in ctx.step_state["verdicts"] if verdict.rpartition("|")[2].strip() == "mended"]
    return Outcome.ITERATE if mended else Outcome.OK


def step(
    prompts: Mapping[str, str],
    name: str,
    title: str,
    ways: Ways,
    *texts: str,
    handler: Callable[[StepContext], Any] | None = None,
    needs: Sequence[str] = (),
    requires: Sequence[Requirement] = (),
    again: Sequence[str] = (),
) -> StepDef:
    """A step that a scope has for itself: its own prompt, then the shared texts."""
    return StepDef(
        name,
        title,
        _lines(prompts[name], *texts),
        {outcome: target for outcome, (target, _) in ways.items()},
        handler,
        needs=needs,
        requires=requires,
        repeat=_lines(*again),
        forbidden=_forbidden(prompts, name),
        when={outcome: when for outcome, (_, when) in ways.items()},
    )


def triage(prompts: Mapping[str, str], scope: str, number: tuple[int, int], after: str) -> StepDef:
    """Settle which prompts, for whom, and whether the scope fits; ``number`` is the least and the most of prompts."""
    least, most = number
    check = "begin-new" if scope == "greenfield" else "begin"
    others = [other for other in SCOPES if other != scope]
    count = "the path of the prompt, one entry" if most == 1 else f"paths of the prompts, {least} to {most}"
    return StepDef(
        "triage",
        "Settle the task",
        _lines(prompts["triage"], PROMPTS["triage"]),
        {Outcome.OK: after, Outcome.FAIL: None},
        fits,
        requires=[
            Field("request", maximum=3000, help="what the user asked for, word for word"),
            Field("files", "list", maximum=most, help=count),
            Field("reader", maximum=800, help="model, host, what fills it in, what reads its output; or unknown"),
            Field("folder", maximum=120, help="a new folder for this run, such as .lockstep/prompts/triage"),
            Field("fits", choices=("yes", *others), required=False, help="only the scope that fits better"),
            Command(
                ["check_prompts.py", check, "{folder}", "{files}", "{fits}", str(least), str(most)],
                60,
                help="the prompts can be read, and the folder is free",
            ),
        ],
        forbidden=_forbidden(prompts, "triage"),
        when={Outcome.OK: "the scope fits", Outcome.FAIL: "another scope fits: open a run with its script"},
    )


def refine(prompts: Mapping[str, str], work: str, first: str) -> StepDef:
    """Verify the technique behind each change; a new prompt cannot end with none left."""
    judged = Command(
        ["check_prompts.py", "build", FOLDER, FILES, KEEP, "{verdicts}"],
        60,
        help="each change has its verdict; changes.diff is written",
    )
    ways = {Outcome.OK: "approve", Outcome.ITERATE: "refine"}
    when = {
        Outcome.OK: "what is left stood as it is, or five rounds are done",
        Outcome.ITERATE: "a change was mended, and is checked anew",
    }
    if work != "design":
        ways[Outcome.SKIP] = None  # type: ignore[assignment]
        when[Outcome.SKIP] = "every change was dropped: the prompts stay as they are"
    return StepDef(
        "refine",
        "Verify each technique",
        _lines(prompts["refine"], PROMPTS["refine"]),
        ways,
        settle_draft if work == "design" else settle,
        needs=[
            "triage.files",
            "triage.folder",
            "triage.reader",
            f"{first}.cases",
            f"{work}.entries",
            "refine.verdicts",
        ],
        requires=[
            Field(
                "verdicts", "list", minimum=1, maximum=40, help='each "C1 | answer with the words that decide | kept"'
            ),
            judged,
        ],
        repeat=_lines(prompts["refine"], PROMPTS["refine again"], PROMPTS["refine"]),
        forbidden=_forbidden(prompts, "refine"),
        max_iterations=5,
        when=when,
    )


def approve(prompts: Mapping[str, str], work: str, *shown: str) -> StepDef:
    """Show the difference, and stop until the user has answered; ``shown`` is what else bears on the answer."""
    return StepDef(
        "approve",
        "Have it approved",
        _lines(PROMPTS["approve"], *([prompts["approve"]] if "approve" in prompts else ())),
        {Outcome.OK: "execute", Outcome.FAIL: work, Outcome.SKIP: None},
        person(QUESTION, {"yes": Outcome.OK, "revise": Outcome.FAIL, "stop": Outcome.SKIP}),
        needs=["triage.folder", "refine.verdicts", f"{work}.rejected", *shown],
        requires=[
            Field("remarks", "list", maximum=10, required=False, help="only what neither plan nor verdicts say"),
            Command(
                [
                    "check_prompts.py",
                    "summary",
                    FOLDER,
                    FILES,
                    "{refine.verdicts}",
                    f"{{{work}.rejected}}",
                    "{remarks}",
                ],
                60,
                help="the summary for the user",
                records="summary",
            ),
            Command(
                ["check_prompts.py", "build", FOLDER, FILES, KEEP, "{refine.verdicts}"],
                60,
                help="changes.diff is what the prompts and the plan give now",
            ),
        ],
        forbidden=_forbidden({}, "approve"),
        when={Outcome.OK: "yes", Outcome.FAIL: "revise", Outcome.SKIP: "stop: nothing is changed"},
    )


def execute(first: str) -> StepDef:
    """Write what was approved; the check that the step is left by does the writing, and reads it again."""
    return StepDef(
        "execute",
        "Make the approved changes",
        _lines(PROMPTS["execute"]),
        {Outcome.OK: None},
        needs=["triage.folder", f"{first}.cases", "approve.summary", "approve.answer"],
        requires=[
            Field("traced", "list", minimum=1, maximum=16, help='by numbers of cases: "1, 3 | "passage""'),
            Command(
                ["check_prompts.py", "traced", FOLDER, FILES, f"{{{first}.cases}}", "{traced}"],
                60,
                help="every case has a passage that stands in the new text",
            ),
            Command(
                ["check_prompts.py", "told", FOLDER, FILES, "{refine.verdicts}"],
                60,
                help="what the user is told",
                records="told",
            ),
            Command(
                ["check_prompts.py", "apply", FOLDER, FILES, KEEP, "{refine.verdicts}"],
                60,
                help="writes the prompts exactly as approved",
            ),
        ],
        forbidden=_forbidden({}, "execute"),
    )


def _lines(*texts: str) -> list[str]:
    """The texts, with an empty line between them."""
    return [line for text in texts for line in (text, "")][:-1]


def _forbidden(prompts: Mapping[str, str], name: str) -> list[str]:
    title = f"{name} (forbidden)"
    texts = prompts if title in prompts else PROMPTS
    return texts[title].splitlines() if title in texts else []
