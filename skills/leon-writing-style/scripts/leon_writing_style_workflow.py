"""The graph of leon-writing-style: settle what is wanted, draft, read three times, rewrite once, refine, check."""

from __future__ import annotations

from skills.lib.prompts import read_prompts, read_resource
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Artifact, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
TELLS = read_resource(__file__, "machine-tells.md").strip()

KINDS = ("message", "technical", "explanation", "announcement", "report", "other")
CHECK = "check_text.py"
KEPT = "the text differs from the draft and holds every string of keep, letter for letter"
DRAFT_AND_FACTS = ("{draft.draft}", "{purpose.keep}")

WANTED: list[Requirement] = [
    Field("profile", maximum=300, help="path of the style profile that this run follows, under the project's root"),
    Field("request", maximum=4000, help="what the user asked for, word for word"),
    Field("kind", choices=KINDS, help="the kind that decides how the text is read"),
    Field("material", maximum=600, help="where the facts come from: paths, or: in the request"),
    Field("words", "int", minimum=5, maximum=5000, help="target length in words"),
    Artifact("{profile}", help="the style profile, in place"),
]
BRIEF: list[Requirement] = [
    Field("reader", minimum=20, maximum=400, help="one reader: what they know, what they want, where they read it"),
    Field("aim", minimum=20, maximum=300, help="After reading, the reader … something that could be seen to happen"),
    Field("points", "list", minimum=1, maximum=9, help='what the text says, by weight: "point (source)"'),
    Field("keep", "list", maximum=20, help="exact strings that must come through; [] where there are none"),
    Field("missing", maximum=600, help="facts that the reader wants and the material does not have; or the word none"),
]
DRAFT: list[Requirement] = [
    Field("draft", maximum=300, help="path of the draft's file, relative to the project's root"),
    Artifact("{draft}", help="the whole draft"),
]
FINDS: list[Requirement] = [
    Field("tells", "list", minimum=12, maximum=40, help='"T4 | place | quotation | mend", or "T5 | none"'),
    Command([CHECK, "tells", "{tells}", "{draft.draft}"], 60, help="T1 to T12; what is in quotes is in the draft"),
]
MARKS: list[Requirement] = [
    Field("marks", "list", minimum=2, maximum=8, help='"mark | place | the new sentence, worded to the end"'),
    Command([CHECK, "reading", "{marks}", "{draft.draft}"], 60, help="each mark has its three parts"),
]
DEPARTURES: list[Requirement] = [
    Field("departures", "list", minimum=1, maximum=20, help='"rule | quotation | as the voice would say it"'),
    Field("held", maximum=400, help="ids of the rules that the draft keeps"),
    Command([CHECK, "reading", "{departures}", "{draft.draft}"], 60, help="each departure has its three parts"),
]
TEXT: list[Requirement] = [
    Field("text", maximum=300, help="path of the new file, relative to the project's root"),
    Field("declined", "list", maximum=40, help='what was not followed: "find | reason"; [] where nothing is'),
    Artifact("{text}", help="the whole text, rewritten"),
    Command([CHECK, "text", "{text}", *DRAFT_AND_FACTS, "{declined}"], 60, help=KEPT),
]
STILL_KEPT = Command([CHECK, "text", "{consolidate.text}", *DRAFT_AND_FACTS, "{consolidate.declined}"], 60, help=KEPT)
CHANGES: list[Requirement] = [
    Field("changes", "list", minimum=1, maximum=10, help='"before" | "after", the ones that matter most'),
    Field("count", "int", minimum=1, help="number of words in the file now, counted by a command"),
    Command([CHECK, "count", "{count}", "{consolidate.text}"], 60, help="the file has so many words"),
    STILL_KEPT,
]
VERDICT: list[Requirement] = [
    Field("checks", "list", minimum=8, maximum=8, help='C1 to C8, each "C1 | pass or fail | quotation or number"'),
    Field("summary", maximum=600, help="for the user: what the text is, what they should look at"),
    Command([CHECK, "final", "{checks}", "{consolidate.text}"], 60, help="C1 to C8; C8 names the number of words"),
    STILL_KEPT,
]

VOICE = "classify.profile"
WISH = ("classify.request", "classify.kind", "classify.words", VOICE)
READER = ("purpose.reader", "purpose.aim")
FACTS = ("purpose.points", "purpose.keep", "purpose.missing")
LAST = ("consolidate.text", "consolidate.declined", "refine.changes", "refine.count")
READINGS = ("tells.tells", "marks.marks", "align.departures", "align.held")


def step(
    name: str, title: str, ways: tuple[str | None, str], needs: Sequence[str], requires: Sequence[Requirement]
) -> StepDef:
    """One step of the line, with the next one and when to go there; its prompts stand under its name."""
    actions = [PROMPTS[name], "", TELLS] if name == "tells" else PROMPTS[name]
    forbidden = PROMPTS[f"{name} (forbidden)"].splitlines()
    after, when = {Outcome.OK: ways[0]}, {Outcome.OK: ways[1]}
    return StepDef(name, title, actions, after, needs=needs, requires=requires, forbidden=forbidden, when=when)


WORKFLOW = Workflow(
    "leon-writing-style",
    step(
        "classify",
        "Classify the text",
        ("purpose", "the profile is in place, and kind, material and length are settled"),
        (),
        WANTED,
    ),
    step(
        "purpose",
        "Settle purpose and reader",
        ("draft", "every point has its source, and what is missing is named"),
        (*WISH, "classify.material"),
        BRIEF,
    ),
    step(
        "draft",
        "Write the draft",
        ("tells", "the whole draft stands in its file and has passed the three tests"),
        (*WISH, "classify.material", *READER, *FACTS),
        DRAFT,
    ),
    step(
        "tells",
        "Find what sounds like a machine",
        ("marks", "every family has its finds, or an entry that says none"),
        (*READER, "draft.draft", VOICE),
        FINDS,
    ),
    step(
        "marks",
        "Find where the voice belongs",
        ("align", "every mark has its place and its sentence"),
        ("classify.kind", "classify.material", *READER, "purpose.points", "draft.draft", VOICE),
        MARKS,
    ),
    step(
        "align",
        "Hold the draft against the profile",
        ("consolidate", "every rule of the profile stands under departures or held"),
        ("classify.kind", *READER, "draft.draft", VOICE),
        DEPARTURES,
    ),
    step(
        "consolidate",
        "Rewrite it as one text",
        ("refine", "the text stands in a file of its own, and every find is followed or declined"),
        (*WISH, *READER, *FACTS, "draft.draft", *READINGS),
        TEXT,
    ),
    step(
        "refine",
        "Refine the sentences",
        ("check", "it reads without a stumble, or two passes are made"),
        ("classify.words", *READER, "purpose.keep", "consolidate.text", VOICE),
        CHANGES,
    ),
    step(
        "check",
        "Check it a last time",
        (None, "each of the eight is judged on the file as it stands now"),
        (*WISH, "classify.material", *READER, *FACTS, "tells.tells", *LAST),
        VERDICT,
    ),
    title="Leon writing style",
    closing=PROMPTS["closing"],
    description="Writes one text in the voice of a style profile, with nothing invented and nothing machine-sounding.",
    unchecked="whether the text is good: it is there and keeps its facts",
)

register_workflow(WORKFLOW)
