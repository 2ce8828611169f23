"""What each fix against leaving a skill is worth: real sessions of a scripted model, with each switched off in turn."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.tools import BaseTool, StructuredTool

from benchmarks.adherence.hosts import own_ledgers
from benchmarks.report import Cell, Figures
from skills.lib.agent.agent import Agent
from skills.lib.agent.configuration.settings import Settings, Switches
from skills.lib.agent.middleware import LockstepMiddleware
from skills.lib.agent.prompt import Sections, estimated_tokens
from skills.lib.guard.offering import ESSENTIAL
from skills.lib.runtime.reporting import REPORT
from tests.agent.scripted import ScriptedModel, calling, report
from tests.agent.sessions import project
from tests.fixtures.skill import source_of

if TYPE_CHECKING:
    from benchmarks.options import Options
    from skills.lib.agent.following import Following

# What every step offers.
ALWAYS = (REPORT, *ESSENTIAL)
# The steps of the skill, each with the tools that it names; a step's report has a field of its name.
STEPS = {"collect": ("read", "search"), "judge": ("read",), "sum_up": ("read", "write")}
# The tools of a general agent.
TOOLS = (
    "read search write edit shell web agent ask desktop browser send_mail calendar create_task query_database "
    "upload_file memory_search translate run_notebook post_message deploy"
).split()
# What else stands in its system prompt, by about how many tokens.
AROUND = {"memory": 600, "subagents": 800, "skills": 500, "workspace": 500, "mode": 100, "general": 700, "rules": 150}
SECTIONS = Sections(**{name: f"## {name}\n" + "a few words " * (tokens // 3) for name, tokens in AROUND.items()})
# Tokens: the budget of a model call, of most results, and of the first in each step.
BUDGET, RESULT, LARGE = 12_000, 1_500, 15_000
READS, QUICK_READS = 8, 3


class Seen(NamedTuple):
    """What the model calls of a session were sent, each kind as a mean or a count, and what was done."""

    calls: int
    without_block: int
    hidden_offered: float
    tried: int
    ran: int
    of_tools: float
    around_block: float
    after_block: float | None
    reminded: int
    later: int
    reinforced: int
    status: str


def figures(options: Options) -> list[Figures]:
    """Run a long session and a summarized one by each set of switches."""
    names = [*Switches().fields()]
    ways = {"all on": Switches(), **{f"{name} off": Switches(**{name: False}) for name in names}}
    ways["all off"] = Switches(**dict.fromkeys(names, False))
    reads = QUICK_READS if options.quick else READS
    log = logging.getLogger("lockstep.agent")
    was, log.disabled = log.disabled, True  # it says what every call leaves out
    seen: dict[str, tuple[Seen, Seen]] = {}
    try:
        with options.progress("deviations", 2 * len(ways)) as tick:
            for name, switches in ways.items():
                long = session(switches, reads, summarized=False)
                tick()
                seen[name] = (long, session(switches, reads, summarized=True))
                tick()
    finally:
        log.disabled = was
    return [_done(seen, reads), _sent(seen)]


def session(switches: Switches, reads: int, *, summarized: bool) -> Seen:
    """One run of the skill by a model that loses its thread; what it reads is many times the budget."""
    with own_ledgers(), tempfile.TemporaryDirectory(prefix="lockstep-bench-") as folder:
        project(Path(folder), "survey", _source())
        settings = Settings(context_tokens=BUDGET, max_iterations=4 * reads + 20, switches=switches)
        run = Agent(folder, settings=settings).start("survey", "find out why it is slow")
        forcing = LockstepMiddleware(run, folder, settings=settings, sections=SECTIONS)
        try:
            losing = Losing(forcing.following, reads)
            middleware = [_summaries(), forcing] if summarized else [forcing]
            agent: Any = create_agent(losing.model, losing.tools(), middleware=middleware)
            agent.invoke({"messages": [HumanMessage("Do it.")]}, {"recursion_limit": 10_000})
            return losing.seen()
        finally:
            forcing.close()


def _source() -> str:
    ways = [*map(repr, [*STEPS][1:]), "None"]
    steps = [
        f"StepDef({name!r}, {name!r}, 'Find out.', {{Outcome.OK: {way}}}, requires=[Field({name!r})], tools={tools!r})"
        for (name, tools), way in zip(STEPS.items(), ways, strict=True)
    ]
    return source_of("survey", ", ".join(steps))


def _summaries() -> SummarizationMiddleware:
    short = ScriptedModel(answer=lambda messages, tools: "Some files were read; the work goes on.")
    return SummarizationMiddleware(short, trigger=("messages", 9), keep=("messages", 4), trim_tokens_to_summarize=None)


class Losing:
    """A model that loses its thread, with the tools that it calls.

    In each step it reads, calls a tool that it is offered and the step does not name, and one that it only remembers;
    then it reports. Without the block it says in prose that it is done.
    """

    def __init__(self, following: Following, reads: int) -> None:
        self.following, self.reads = following, reads
        self.model = ScriptedModel(answer=self._answer)
        self.step, self.left = "", list[str]()
        self.has_block: list[bool] = []
        self.blocks: list[str] = []
        self.tried = self.ran = 0

    def tools(self) -> list[BaseTool]:
        """All tools of the agent; each counts if it runs where the step does not name it."""
        return [self._tool(name) for name in TOOLS]

    def seen(self) -> Seen:
        """What the session was."""
        calls = self.model.calls
        systems = [call.system for call in calls]
        later = [at for at in range(1, len(calls)) if _step(calls[at].tools) == _step(calls[at - 1].tools)]
        after = [
            system.partition(block)[2] for system, block in zip(systems, self.blocks, strict=True) if block in system
        ]
        around = [system.replace(block, "") for system, block in zip(systems, self.blocks, strict=True)]
        return Seen(
            calls=len(calls),
            without_block=self.has_block.count(False),
            hidden_offered=fmean(len({*call.tool_names} - {*STEPS[_step(call.tools)], *ALWAYS}) for call in calls),
            tried=self.tried,
            ran=self.ran,
            of_tools=fmean(count_tokens_approximately([], tools=list(call.tools)) for call in calls),
            around_block=fmean(map(estimated_tokens, around)),
            after_block=fmean(map(estimated_tokens, after)) if after else None,
            reminded=sum("Remember: " in system[-500:] for system in systems),
            later=len(later),
            reinforced=sum("[SKILL REMINDER]" in systems[at][-900:] for at in later),
            status=self.following.peek().run.status,
        )

    def _answer(self, messages: list[BaseMessage], tools: list[dict[str, Any]]) -> AIMessage | str:
        self.blocks.append(self.following.block(self.following.peek()))
        self.has_block.append(any(self.blocks[-1] in message.text for message in messages))
        if self.step != _step(tools):
            self.step = _step(tools)
            self.left = self._plan([tool["name"] for tool in tools])
        if not self.has_block[-1]:
            return "I have done what I could."
        if self.left:
            return calling((self.left.pop(0), {"what": f"part {len(self.left)}"}))
        return report(record={self.step: "what was to be found"})

    def _plan(self, offered: list[str]) -> list[str]:
        allowed = STEPS[self.step]
        astray = [name for name in offered if name not in (*allowed, *ALWAYS)][:1]
        remembered = next((name for name in TOOLS if name not in offered), TOOLS[-1])
        self.tried += len([*astray, remembered])
        return [*[allowed[0]] * self.reads, *astray, remembered]

    def _tool(self, name: str) -> BaseTool:
        def run(what: str) -> str:
            self.ran += name not in STEPS[self.step]
            is_first = what == f"part {len(self.left)}" and self.left.count(STEPS[self.step][0]) == self.reads - 1
            return "some words of it " * ((LARGE if is_first else RESULT) // 4)

        about = f"{name.replace('_', ' ').capitalize()}: does this for the user, as well as it can be done."
        return StructuredTool.from_function(run, name=name, description=about)


def _step(tools: list[dict[str, Any]]) -> str:
    """The step whose report the model may give."""
    schema = next(tool["parameters"] for tool in tools if tool["name"] == REPORT)
    return str(next(iter(schema["properties"]["record"]["properties"])))


def _done(seen: dict[str, tuple[Seen, Seen]], reads: int) -> Figures:
    rows: list[list[Cell]] = [
        [
            name,
            f"{sum(one.ran for one in both)} of {sum(one.tried for one in both)}",
            f"{both[0].without_block} of {both[0].calls}",
            f"{both[1].without_block} of {both[1].calls}",
            f"{sum(one.status == 'done' for one in both)} of 2",
        ]
        for name, both in seen.items()
    ]
    columns = ["switches", "forbidden calls run", "calls without the block", "the same, summarized", "runs done"]
    notes = [
        f"Two sessions each, one of them summarized by LangChain: {len(STEPS)} steps with {reads} results of "
        f"{RESULT:,} tokens (one of {LARGE:,}), and {BUDGET:,} tokens for a call.",
        "In each step the model calls a tool that it is offered and the step does not name, and one that it remembers;",
        "without the block it says that it is done.",
    ]
    return Figures("Deviations, with each fix switched off", columns, rows, notes)


def _sent(seen: dict[str, tuple[Seen, Seen]]) -> Figures:
    rows: list[list[Cell]] = [
        [
            name,
            long.hidden_offered,
            round(long.of_tools),
            round(long.around_block),
            None if long.after_block is None else round(long.after_block),
            f"{long.reminded} of {long.calls}",
            f"{long.reinforced} of {long.later}",
        ]
        for name, (long, _) in seen.items()
    ]
    columns = [
        "switches", "other tools offered", "tokens of tools", "tokens around the block", "tokens after it",
        "calls with the reminder", "later calls reinforced",
    ]  # fmt: skip
    notes = ["Of the long sessions; means of all their calls. A scripted model has no attention that these could hold."]
    return Figures("What a model call is sent, with each fix switched off", columns, rows, notes)
