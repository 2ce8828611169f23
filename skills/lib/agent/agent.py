"""The autonomous agent: opens a run of a skill and follows it with a model, without a person in between."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from skills.lib import compact_json, paths
from skills.lib.agent import results, runs, stops
from skills.lib.agent.cancellation import KIND, Cancellation, newest
from skills.lib.agent.configuration.lockstep_toml import Configuration, load
from skills.lib.agent.configuration.settings import Settings
from skills.lib.agent.interrupting import interruptible
from skills.lib.agent.kept import submissions
from skills.lib.agent.kept.lease import is_held, lease
from skills.lib.agent.redaction import Redactor
from skills.lib.agent.results import SessionResult
from skills.lib.agent.session_tools import SessionTools
from skills.lib.agent.tools import outputs
from skills.lib.agent.watching.activity import Activity, path_in
from skills.lib.agent.watching.concealment import Concealment
from skills.lib.agent.watching.visibility import SUMMARY, Levels
from skills.lib.errors import RefusedError, UsageError
from skills.lib.ledger import Ledger
from skills.lib.model.run import ENDED, Request
from skills.lib.record import Record

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool

    from skills.lib.agent.following import Following
    from skills.lib.agent.models.model_choice import ModelChoice
    from skills.lib.agent.opener import Opener
    from skills.lib.agent.watching.events import Event
    from skills.lib.engine.decision import Move
    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow
    from skills.lib.runtime.peeking import Peek
    from skills.lib.runtime.runner import Runner


class Agent:
    """Follows runs of one project with a model. Any number of threads may use it, each with runs of its own.

    ``model`` is a chat model of LangChain or ``provider:name``. ``tools`` are LangChain tools in place of Lockstep's
    own; ``tool_names`` maps their names to those that steps use. ``overrides`` are fields of Settings that hold for
    every run, whatever its skill sets. ``conversations`` is the folder that keeps them, if not that of the ledger, and
    ``before_commit`` is called before each transition with the run and the move, and returns what is noted with it;
    what it raises ends the session, and the run does not move. While ``is_void`` says so, somebody else follows the
    run, and a session that stops leaves no word of it. Importing it loads no LangChain. Raises UsageError for a
    project that is no folder, two tools of one name, and a name that every session uses itself.
    """

    def __init__(
        self,
        project: str,
        model: BaseChatModel | str | None = None,
        *,
        tools: Sequence[BaseTool] | None = None,
        tool_names: Mapping[str, str] | None = None,
        settings: Settings | None = None,
        overrides: Mapping[str, Any] | None = None,
        base_url: str = "",
        configuration: Configuration | None = None,
        conversations: str = "",
        before_commit: Callable[[Run | None, Move], Mapping[str, Any]] | None = None,
        is_void: Callable[[], bool] | None = None,
    ) -> None:
        self.project = os.path.realpath(project)
        if not os.path.isdir(self.project):
            raise UsageError(f"the project {self.project} is no folder")
        self.home = paths.home(self.project)
        self.configuration = configuration or load(self.project)
        self._overrides = dict(overrides or {})
        self.settings = (settings or self.configuration.settings).changed(**self._overrides)
        self._model, self._base_url = model, base_url
        self._tools = SessionTools(self.project, self.home, tools, self.configuration.shell)
        self._conversations, self._before_commit = conversations or self.home, before_commit
        self._is_void = is_void
        self._names = dict(tool_names or {})
        visibility = self.configuration.visibility
        self._levels = Levels(visibility, self.configuration.tool_types, self._names)
        self._redactor = Redactor(visibility.sensitive_fields)
        self._cancelled: set[str] = set()
        # Of each run the last cancellation before its session began.
        self._begun_after: dict[str, int] = {}

    def start(
        self,
        skill: str,
        request: str = "",
        parameters: Mapping[str, Any] | None = None,
        *,
        new: bool = False,
        key: str = "",
    ) -> str:
        """Open a run of a skill for a task, and return its id; the same call again gives the run while it goes on.

        With a ``key`` the same call gives the same run for ever, and another task with that key is refused.

        ``skill`` is a name or a path, also of a SKILL.md without a graph. ``request`` is the task in words; it is also
        the first text that the skill requires and ``parameters`` does not have. Raises UsageError or RefusedError if
        the skill cannot be opened so, or a secret is in what is given.
        """
        self.require_no_secrets("the task", request, parameters)
        return self._opener().start(skill, request, dict(parameters or {}), new, key)

    def require_model(self, skill: str = "") -> None:
        """Raise UsageError or EnvironmentProblem if there is no model for a skill, or for one that names none."""
        self._opener().require_model(skill)

    def admit(self, workflow: Workflow, key: str, folder: str) -> None:
        """Raise RefusedError if a budget or the rate of openings does not admit a new run."""
        self._opener().admit(workflow, key, folder)

    def advance(self, run: str) -> SessionResult:
        """Follow a run until it ends, waits for a person, or the session stops; the same call goes on after a crash.

        Raises RefusedError if another session drives the run, or the run that it is a sub-agent's of, or if the run is
        submitted to workers.
        """
        run = runs.known(self.project, run).id
        with lease(self.home, run):
            submissions.require_none(self.home, run)  # not before: workers look for the lease once they have the run
            return self.drive(run)

    def interrupt(self, run: str) -> None:
        """Stop the session that this object has of a run before its next model call; no other process is told."""
        self._cancelled.add(run)

    def drive(self, run: str) -> SessionResult:
        """As ``advance``, for who has the lease of the run."""
        self._begun_after.pop(run, None)
        self._cancelled.discard(run)  # not before: a session that was cancelled may have the lease still
        with self._session() as session, interruptible(lambda: self._cancelled.add(run)):
            ended = session(run)
        with self.activity() as activity:
            if ended.status in ENDED:
                activity.note(run, 0, 0, "told", {"status": ended.status})
            made = outputs.left(self.project, [row.data for row in activity.rows_of_all(run, "made")])
        return SessionResult(**{**ended.fields(), "outputs": made})  # type: ignore[arg-type]

    async def aadvance(self, run: str) -> SessionResult:
        """As ``advance``, in a thread; if the task is cancelled, the session stops before its next model call."""
        import asyncio

        try:
            return await asyncio.to_thread(self.advance, run)
        except asyncio.CancelledError:
            self.cancel(run)
            raise

    def answer(self, run: str, answer: str, reason: str = "") -> None:
        """Answer the question that a run waits with: the calling program vouches that a person says it.

        Raises RefusedError if the run asks nothing, or the answer is none of its choices, or has a secret in it.
        """
        self.require_no_secrets("the answer", answer, reason)
        runner, workflow = runs.served(self.project, run)
        try:
            turn = runs.known(self.project, run).turn
            request = Request("next", run=run, turn=turn, answer=answer, reason=reason or None)
            response = runner.advance(workflow, run, request, by=runs.WHO, kind="api")
            if response.exit_code:
                refusal = response.refusal
                valid = ", ".join(refusal.valid.get("choices", ())) if refusal else ""
                raise RefusedError(refusal.why if refusal else "the answer was refused", valid=valid)
        finally:
            runner.close()

    def follow(
        self, run: str, after: str = "0.0", level: str = "", wait: bool = False, role: str = "", until: str = ""
    ) -> Iterator[Event]:
        """What happened in a run and its sub-agents' since a cursor, in order; with ``wait`` until the run ends.

        A reader sees what its ``role`` may, or less if ``level`` says so; without both, a summary. With ``until``, what
        happened up to that cursor: an event of a milestone has those of its calls in ``data["details"]``.
        """
        from skills.lib.agent.watching import events

        level = self._levels.of_reader(role, level or ("" if role else SUMMARY))
        with Ledger(self.home, create=False) as ledger, self.activity() as activity:
            yield from events.follow(ledger, activity, run, after, level, wait, until)

    def cancel(self, run: str, by: str = "") -> None:
        """Stop the session of a run before its next model call, and the command that it waits for, in any process.

        No tool begins any more; a report that the model has made is taken. ``by`` is the name of who does it, if it is
        known.
        """
        self._cancelled.add(run)
        with self.activity() as activity:
            activity.note(run.partition(".")[0], 0, 0, KIND, {"run": run} | ({"by": by} if by else {}))
        runner, _ = runs.served(self.project, run)
        try:
            runner.cancel(run)
        finally:
            runner.close()

    def is_driven(self, run: str) -> bool:
        """True if a session drives the run, or the run that it is a sub-agent's of, in any process."""
        return is_held(self.home, run)

    def abandon(self, run: str, reason: str) -> None:
        """End a run."""
        runner, _ = runs.served(self.project, run)
        try:
            runner.abandon(run, reason, by=runs.WHO, kind=runs.KIND)
        finally:
            runner.close()

    @contextmanager
    def activity(self) -> Iterator[Activity]:
        """What happened in the sessions of the project."""
        with Activity(path_in(self.home)) as activity:
            yield activity

    @contextmanager
    def _session(self) -> Iterator[Callable[[str], SessionResult]]:
        """What follows one run, with all that its sub-agents' sessions share."""
        from skills.lib.agent.kept.conversations import Conversations  # of the extra

        choice = self._choice()
        conversations = Conversations(self._conversations)
        try:
            with self.activity() as activity:
                shared = Shared(activity, conversations, choice)
                yield lambda run: self._followed(run, shared, self.settings)
        finally:
            conversations.close()

    def _opener(self) -> Opener:
        """What opens runs of the project."""
        from skills.lib.agent.opener import Opener  # few programs open runs

        return Opener(
            self.project,
            self.configuration,
            self._choice(),
            self._tools.names,
            self._names,
            self.settings.undeclared,
            self._redactor.text,
        )

    def _choice(self) -> ModelChoice:
        """The models of the agent's sessions."""
        from skills.lib.agent.models.model_choice import ModelChoice  # of the extra

        return ModelChoice(self._model, self._base_url, self.configuration)

    def _followed(self, run: str, shared: Shared, settings: Settings) -> SessionResult:
        """Follow one run, and the sub-agents of its steps by the same model."""
        from skills.lib.agent.models import chat_models, model_choice  # of the extra
        from skills.lib.agent.planning import kinds
        from skills.lib.agent.session import Session

        following = self.following(run, shared.activity, settings)
        is_fork = following.rules is not None and following.rules.is_fork

        def child(one: str) -> str:
            ended = self._followed(one, shared, settings if is_fork else settings.halved())
            return ended.reason if ended.status == "stopped" else ""

        try:
            wanted = following.rules.model if following.rules else model_choice.of_skill(following.skill_folder())

            def model_of(peek: Peek) -> BaseChatModel:
                model = shared.choice.of_step(peek.run, peek.step, wanted)
                return chat_models.cancellable(model, following.is_cancelled)

            own = kinds.middleware_of(following)
            session = Session(following, model_of, self._tools.of(following), shared.conversations, child, own)
            try:
                session.follow()
            except Exception as error:
                failure = chat_models.failure(error)
                if failure is None:
                    raise
                if not following.is_cancelled():
                    following.stop(failure.reason, stops.MODEL)
            return results.of(following)
        finally:
            following.runner.close()

    def following(self, run: str, activity: Activity, settings: Settings | None = None) -> Following:
        """A run as a session follows it; a sub-agent's begins. The caller closes its runner."""
        from skills.lib.agent.guarding import Guarding
        from skills.lib.agent.money.budgeting import Budget
        from skills.lib.agent.planning import kinds
        from skills.lib.agent.prose import rules as prose

        runner, workflow = self._begun(run)
        base = settings or self.settings
        rules = prose.of(runs.known(self.project, run), workflow)
        following = kinds.following_class(workflow)(
            runner,
            workflow,
            run,
            activity,
            rules.settings(base, self._overrides, self.configuration.most_iterations) if rules else base,
            names=self._names,
            commands_of=self._tools.commands,
            guarding=Guarding(self.project, run),
            is_cancelled=self._cancellation(run, activity),
            rules=rules,
            concealment=Concealment(self._redactor, self._levels),
        )
        following.is_void = self._is_void
        following.budget = Budget(self.configuration, self.home, run, lambda data: following.note("budget", data))
        return following

    def _begun(self, run: str) -> tuple[Runner, Workflow]:
        """What serves a run; one of a sub-agent begins."""
        from skills.lib.agent.prose import opening
        from skills.lib.agent.prose import workflow as workflows

        known = runs.known(self.project, run)
        if known.status != "pending":
            return self._served(run)
        if workflows.is_pending_child(known):
            runner, workflow = opening.runner(self.project), opening.child(known)
        else:
            runner, workflow = runs.served(self.project, run)
        runner.before_commit, runner.is_void = self._before_commit, self._is_void
        try:
            runner.state(workflow, run)
        finally:
            runner.close()
        return self._served(run)

    def _served(self, run: str) -> tuple[Runner, Workflow]:
        """What serves a run in its session."""
        runner, workflow = runs.served(self.project, run)
        runner.before_commit, runner.is_void = self._before_commit, self._is_void
        return runner, workflow

    def redacted(self, text: str) -> str:
        """A text as models read it and runs keep it: without secrets."""
        return self._redactor.text(text)

    def _cancellation(self, run: str, activity: Activity) -> Cancellation:
        root = run.partition(".")[0]
        if root not in self._begun_after:
            self._begun_after[root] = newest(activity, root)
        own = lambda: any(run == one or run.startswith(f"{one}.") for one in self._cancelled)  # noqa: E731
        return Cancellation(activity, run, own, self._begun_after[root])

    def require_no_secrets(self, what: str, *values: object) -> None:
        """Raise RefusedError for a secret in what is given, before anything of it is written."""
        kinds = self._redactor.secrets(compact_json.readable(values))
        if kinds:
            raise RefusedError(
                f"{what} has a secret in it: {', '.join(kinds)}. Nothing was written",
                remedy="take it out: name a file or a variable that has it, which a program reads by itself",
            )


class Shared(Record):
    """What the sessions of a run and its sub-agents have in common."""

    activity: Any
    conversations: Any
    choice: Any
