"""A valid chain of steps, and defects to plant in it: each says which findings it must lead to, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Arg, Artifact, Command, Field
from skills.lib.workflow.types import AgentRole, Dispatch, Gate, Outcome, Person, Rendered

OK, FAIL, SKIP, ITERATE, DEFAULT = Outcome.OK, Outcome.FAIL, Outcome.SKIP, Outcome.ITERATE, Outcome.DEFAULT
MORE = Outcome("more-guests")
# Steps that a defect may change, counted from the one it is planted at.
SPAN = 4
Expected = set[tuple[str, str]]
Plant = Callable[["Plan", int], Expected]


def _handler(context: Any) -> Outcome:
    return Outcome(context.workflow_params["outcome"])


class Plan:
    """The chain as keyword arguments of StepDef; ``side`` adds a branch that is skipped to from a step of it."""

    def __init__(self, length: int) -> None:
        self.steps: list[dict[str, Any]] = [
            {"id": f"step-{at}", "title": f"Step {at}", "next": {OK: f"step-{at + 1}"}} for at in range(length)
        ]
        self.steps[-1]["next"] = {OK: None}
        self.params: list[Arg] = []

    def id(self, at: int) -> str:
        return str(self.steps[at]["id"])

    def side(self, at: int, *steps: dict[str, Any]) -> None:
        self.steps[at]["next"][SKIP] = steps[0]["id"]
        for step in steps:
            self.steps.append({"title": f"Side {step['id']}", "next": {OK: None}, **step})

    def rename(self, at: int, name: str) -> None:
        self.steps[at - 1]["next"][OK] = name
        self.steps[at]["id"] = name

    def workflow(self) -> Workflow:
        """Each route of a step is explained, unless a defect says otherwise."""
        explained = ({"when": dict.fromkeys(step["next"], "it is so"), **step} for step in self.steps)
        return Workflow("w", *(StepDef(**step) for step in explained), params=self.params)


def renamed(rule: str, name: str) -> Plant:
    def plant(plan: Plan, at: int) -> Expected:
        plan.rename(at, name)
        return {(rule, f"w:{name}")}

    return plant


def changed(rule: str, outcome: str = "", **fields: Any) -> Plant:
    def plant(plan: Plan, at: int) -> Expected:
        plan.steps[at].update(fields)
        return {(rule, f"w:{plan.id(at)}" + outcome)}

    return plant


def rerouted(rule: str, outcome: str, routes: Callable[[str], dict[Outcome, str | None]], **fields: Any) -> Plant:
    """Routes are made from the id of the next step of the chain."""

    def plant(plan: Plan, at: int) -> Expected:
        plan.steps[at].update(next=routes(plan.id(at + 1)), **fields)
        return {(rule, f"w:{plan.id(at)}" + outcome)}

    return plant


def duplicate(plan: Plan, at: int) -> Expected:
    plan.steps.append({"id": plan.id(at), "title": f"Again {at}", "next": {OK: None}})
    return {("duplicate-id", f"w:{plan.id(at)}")}


def colliding(plan: Plan, at: int) -> Expected:
    plan.side(at, {"id": plan.id(at).upper()})
    return {("colliding-id", f"w:{plan.id(at).upper()}")}


def misspelt_target(plan: Plan, at: int) -> Expected:
    plan.steps[at]["next"][OK] = plan.id(at + 1) + "x"
    return {("unknown-target", f"w:{plan.id(at)}:ok")}


def foreign_target(plan: Plan, at: int) -> Expected:
    plan.steps[at]["next"][FAIL] = "qqqqqqqqqq"
    return {("unknown-target", f"w:{plan.id(at)}:fail")}


def orphan(plan: Plan, at: int) -> Expected:
    plan.steps.append({"id": f"orphan-{at}", "title": f"Orphan {at}", "next": {OK: plan.id(at)}})
    return {("unreachable-step", f"w:orphan-{at}")}


def island(plan: Plan, at: int) -> Expected:
    a, b = f"isle-{at}-a", f"isle-{at}-b"
    plan.steps.append({"id": a, "title": a, "next": {OK: b}})
    plan.steps.append({"id": b, "title": b, "next": {ITERATE: a, OK: plan.id(at)}, "max_iterations": 2})
    return {("unreachable-step", f"w:{a}")}


def dead_end(plan: Plan, at: int) -> Expected:
    plan.side(at, {"id": f"dead-{at}", "next": {}})
    return {("dead-end", f"w:dead-{at}")}


def trap_of(size: int) -> Plant:
    def plant(plan: Plan, at: int) -> Expected:
        ids = [f"trap{size}-{at}-{number}" for number in range(size)]
        ring = [{"id": step, "next": {OK: ids[(number + 1) % size]}} for number, step in enumerate(ids)]
        plan.side(at, *ring)
        return {("trap", f"w:{ids[0]}")}

    return plant


def trap_behind_steps(plan: Plan, at: int) -> Expected:
    lead, loop = f"lead-{at}", f"round-{at}"
    plan.side(at, {"id": lead, "next": {OK: loop}}, {"id": loop, "next": {OK: loop, FAIL: loop}})
    return {("trap", f"w:{loop}")}


def false_exit(plan: Plan, at: int) -> Expected:
    step = f"false-exit-{at}"
    asked = Person("Once more?", {"yes": OK})
    plan.side(at, {"id": step, "handler": asked, "next": {OK: step, SKIP: None}})
    return {("loop-without-exit", f"w:{step}"), ("route-never-given", f"w:{step}:skip")}


def word_loop(plan: Plan, at: int) -> Expected:
    plan.steps[at + 1]["next"][MORE] = plan.id(at)
    return {("unbounded-word-loop", f"w:{plan.id(at + 1)}")}


def unbounded_pair(plan: Plan, at: int) -> Expected:
    plan.steps[at + 1]["next"][FAIL] = plan.id(at)
    return {("loop-without-bound", f"w:{plan.id(at)}")}


def bound_on_the_wrong_step(plan: Plan, at: int) -> Expected:
    plan.steps[at]["max_iterations"] = 3
    plan.steps[at + 1]["next"][ITERATE] = plan.id(at)
    return {("loop-without-bound", f"w:{plan.id(at)}"), ("unused-limit", f"w:{plan.id(at)}")}


def unbounded_self(plan: Plan, at: int) -> Expected:
    plan.steps[at]["next"][ITERATE] = plan.id(at)
    return {("loop-without-bound", f"w:{plan.id(at)}")}


def word_for_the_end(plan: Plan, at: int) -> Expected:
    plan.side(at, {"id": f"last-{at}", "next": {OK: "done"}})
    return {("unknown-target", f"w:last-{at}:ok")}


def limit_of_none(plan: Plan, at: int) -> Expected:
    plan.steps[at].update(max_iterations=0)
    plan.steps[at]["next"][ITERATE] = plan.id(at)
    return {("iteration-limit", f"w:{plan.id(at)}")}


def parameter_of_no_step(plan: Plan, at: int) -> Expected:
    plan.params.append(Arg(f"lost{at}", step="nowhere"))
    return {("unknown-parameter-step", "w")}


def reads(rule: str, key: Callable[[Plan, int], str]) -> Plant:
    def plant(plan: Plan, at: int) -> Expected:
        plan.steps[at]["needs"] = [key(plan, at)]
        return {(rule, f"w:{plan.id(at)}")}

    return plant


def unrecorded_field(plan: Plan, at: int) -> Expected:
    plan.steps[at]["requires"] = [Field("colour")]
    plan.steps[at + 1]["needs"] = [f"{plan.id(at)}.color"]
    return {("read-before-write", f"w:{plan.id(at + 1)}")}


def later_field(plan: Plan, at: int) -> Expected:
    plan.steps[at + 1]["requires"] = [Field("colour")]
    plan.steps[at]["needs"] = [f"{plan.id(at + 1)}.colour"]
    return {("read-before-write", f"w:{plan.id(at)}")}


def parameter(rule: str, *, of_run: bool = False, **fields: Any) -> Plant:
    """A parameter of the run, or of leaving the step."""

    def plant(plan: Plan, at: int) -> Expected:
        plan.params.append(Arg(f"given{at}", **fields, step=None if of_run else plan.id(at)))
        return {(rule, "w" if of_run else f"w:{plan.id(at)}")}

    return plant


def field_and_parameter(plan: Plan, at: int) -> Expected:
    plan.steps[at]["requires"] = [Field(f"note{at}")]
    plan.params.append(Arg(f"note{at}", step=plan.id(at)))
    return {("repeated-name", f"w:{plan.id(at)}")}


def run_and_step_parameter(plan: Plan, at: int) -> Expected:
    plan.params += [Arg(f"topic{at}"), Arg(f"topic{at}", step=plan.id(at))]
    return {("repeated-name", "w")}


def secret_field(read: Callable[[str], dict[str, Any]], rule: str = "secret-read") -> Plant:
    """The next step reads what this one records under a secret-like name; ``read`` is given its key."""

    def plant(plan: Plan, at: int) -> Expected:
        plan.steps[at]["requires"] = [Field("api_tokens", "list")]
        plan.steps[at + 1].update(read(f"{plan.id(at)}.api_tokens"))
        return {(rule, f"w:{plan.id(at + 1)}")}

    return plant


def secret_parameter(plan: Plan, at: int) -> Expected:
    plan.params.append(Arg(f"password{at}"))
    plan.steps[at]["requires"] = [Command(["log-in", "--", f"{{password{at}}}"])]
    return {("secret-read", f"w:{plan.id(at)}")}


def bypassed_field(plan: Plan, at: int) -> Expected:
    plan.steps[at]["next"][FAIL] = plan.id(at + 2)
    plan.steps[at + 1]["requires"] = [Field("colour")]
    plan.steps[at + 2]["needs"] = [f"{plan.id(at + 1)}.colour"]
    return {("read-on-some-paths", f"w:{plan.id(at + 2)}")}


def bypassed_targets(plan: Plan, at: int) -> Expected:
    plan.steps[at]["next"][SKIP] = plan.id(at + 2)
    plan.steps[at + 1]["requires"] = [Field("areas", "list")]
    plan.steps[at + 2]["handler"] = Dispatch(AgentRole.EXPLORE, task="Look.", targets=f"{plan.id(at + 1)}.areas")
    return {("read-on-some-paths", f"w:{plan.id(at + 2)}")}


def _reviewed(plan: Plan, at: int, checkpoint: str, **fields: Any) -> None:
    reviewer = Dispatch(AgentRole.QUALITY_REVIEWER, task="Review.", checkpoint=checkpoint, **fields)
    plan.steps[at + 1]["handler"] = reviewer


def review_without_gate(plan: Plan, at: int) -> Expected:
    _reviewed(plan, at, f"ungated-{at}")
    return {("review-without-gate", f"w:{plan.id(at + 1)}")}


def review_past_its_gate(plan: Plan, at: int) -> Expected:
    _reviewed(plan, at, f"passed-{at}")
    plan.steps[at + 2].update(handler=Gate(f"passed-{at}"), next={OK: plan.id(at + 3), FAIL: plan.id(at)})
    plan.steps.append({"id": f"between-{at}", "title": f"Between {at}", "next": {OK: plan.id(at + 2), SKIP: None}})
    plan.steps[at + 1]["next"] = {OK: f"between-{at}"}
    return {("review-without-gate", f"w:{plan.id(at + 1)}")}


def gate_without_review(plan: Plan, at: int) -> Expected:
    gate = plan.steps[at + 1]
    gate.update(handler=Gate(f"unseen-{at}"), next={OK: plan.id(at + 2), FAIL: plan.id(at)})
    # FAIL leads back to work, from which this gate, though no review of it, is come to again.
    return {("gate-without-review", f"w:{plan.id(at + 1)}")}


def gate_past_its_review(plan: Plan, at: int) -> Expected:
    _reviewed(plan, at, f"skipped-{at}")
    plan.steps[at + 2].update(handler=Gate(f"skipped-{at}"), next={OK: plan.id(at + 3), FAIL: plan.id(at)})
    plan.steps[at]["next"][SKIP] = plan.id(at + 2)
    return {("gate-without-review", f"w:{plan.id(at + 2)}")}


def gate_led_back_to(plan: Plan, at: int) -> Expected:
    _reviewed(plan, at, f"stale-{at}")
    plan.steps[at + 2].update(handler=Gate(f"stale-{at}"), next={OK: plan.id(at + 3), FAIL: plan.id(at)})
    plan.steps[at + 3]["next"][ITERATE] = plan.id(at + 2)
    plan.steps[at + 3]["max_iterations"] = 3
    return {("gate-without-review", f"w:{plan.id(at + 2)}")}


def gate_past_a_skipped_review(plan: Plan, at: int) -> Expected:
    _reviewed(plan, at, f"none-{at}", targets=f"{plan.id(at)}.parts")
    plan.steps[at]["requires"] = [Field("parts", "list")]
    plan.steps[at + 1]["next"][SKIP] = plan.id(at + 2)
    plan.steps[at + 2].update(handler=Gate(f"none-{at}"), next={OK: plan.id(at + 3), FAIL: plan.id(at)})
    return {("gate-without-review", f"w:{plan.id(at + 2)}")}


def gate_that_is_never_stale(plan: Plan, at: int) -> Expected:
    _reviewed(plan, at, f"covered-{at}", covers=["src/**"])
    plan.steps[at + 2].update(handler=Gate(f"covered-{at}"), next={OK: plan.id(at + 3), FAIL: plan.id(at)})
    return {("fallen-verdict", f"w:{plan.id(at + 2)}")}


def gate_that_is_stale_for_nothing(plan: Plan, at: int) -> Expected:
    _reviewed(plan, at, f"bare-{at}")
    gate = Gate(f"bare-{at}", stale=plan.id(at))
    plan.steps[at + 2].update(handler=gate, next={OK: plan.id(at + 3), FAIL: plan.id(at)})
    return {("fallen-verdict", f"w:{plan.id(at + 2)}")}


def gate_that_is_stale_past_its_review(plan: Plan, at: int) -> Expected:
    _reviewed(plan, at, f"past-{at}", covers=["src/**"])
    gate = Gate(f"past-{at}", stale=plan.id(at + 3))
    plan.steps[at + 2].update(handler=gate, next={OK: plan.id(at + 3), FAIL: plan.id(at)})
    return {("fallen-verdict", f"w:{plan.id(at + 2)}")}


def targets_of_a_text(plan: Plan, at: int) -> Expected:
    plan.steps[at]["requires"] = [Field("areas")]
    plan.steps[at + 1]["handler"] = Dispatch(AgentRole.EXPLORE, task="Look.", targets=f"{plan.id(at)}.areas")
    return {("unusable-targets", f"w:{plan.id(at + 1)}")}


def covers_of(field: Field) -> Plant:
    def plant(plan: Plan, at: int) -> Expected:
        plan.steps[at]["requires"] = [field]
        _reviewed(plan, at, f"part-{at}", covers=[f"{{{plan.id(at)}.{field.name}}}"])
        # With a stale step, whatever is recorded later would be recorded before it, too.
        plan.steps[at + 2].update(handler=Gate(f"part-{at}"), next={OK: plan.id(at + 3), FAIL: plan.id(at)})
        return {("uncertain-covers", f"w:{plan.id(at + 1)}"), ("fallen-verdict", f"w:{plan.id(at + 2)}")}

    return plant


def work_after_review(plan: Plan, at: int) -> Expected:
    _reviewed(plan, at, f"tidied-{at}")
    plan.steps[at + 2].update(actions=["Tidy up."])
    plan.steps[at + 3].update(handler=Gate(f"tidied-{at}"), next={OK: plan.id(at + 4), FAIL: plan.id(at)})
    return {("work-after-review", f"w:{plan.id(at + 2)}")}


def gate_failing(target: Callable[[Plan, int], dict[Outcome, str | None]]) -> Plant:
    def plant(plan: Plan, at: int) -> Expected:
        _reviewed(plan, at, f"failing-{at}")
        plan.steps[at + 2].update(handler=Gate(f"failing-{at}"), next={OK: plan.id(at + 3), **target(plan, at)})
        return {("fail-without-return", f"w:{plan.id(at + 2)}:fail")}

    return plant


def reviewer_failing_forward(plan: Plan, at: int) -> Expected:
    plan.steps[at].update(
        handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review."), next={OK: plan.id(at + 1), FAIL: plan.id(at + 1)}
    )
    return {("fail-without-return", f"w:{plan.id(at)}:fail")}


def any_answer(plan: Plan, at: int) -> Expected:
    plan.steps[at].update(handler=Person("Why?", {}), next={FAIL: plan.id(at + 1)})
    return {("unrouted-answer", f"w:{plan.id(at)}:ok"), ("route-never-given", f"w:{plan.id(at)}:fail")}


def repeated_title(plan: Plan, at: int) -> Expected:
    plan.steps[at + 1]["title"] = plan.steps[at]["title"]
    return {("repeated-title", f"w:{plan.id(at + 1)}")}


PERSON = Person("Is it good?", {"yes": OK, "no": FAIL})
EXPLORE = Dispatch(AgentRole.EXPLORE, task="Look.")
DEFECTS: dict[str, Plant] = {
    "duplicate-id": duplicate,
    "malformed-id: space": renamed("malformed-id", "two words"),
    "malformed-id: dot": renamed("malformed-id", "a.b"),
    "malformed-id: digit first": renamed("malformed-id", "9lives"),
    "malformed-id: line feed": renamed("malformed-id", "ok\n"),
    "malformed-id: empty": renamed("malformed-id", ""),
    "malformed-id: long": renamed("malformed-id", "a" * 65),
    "numeric-id": renamed("numeric-id", "7"),
    "reserved-id": renamed("reserved-id", "next"),
    "reserved-id: case": renamed("reserved-id", "DONE"),
    "colliding-id": colliding,
    "unknown-target: near": misspelt_target,
    "unknown-target: far": foreign_target,
    "unknown-target: end": word_for_the_end,
    "unreachable-step": orphan,
    "unreachable-step: island": island,
    "dead-end": dead_end,
    "trap of 1": trap_of(1),
    "trap of 2": trap_of(2),
    "trap of 5": trap_of(5),
    "trap behind steps": trap_behind_steps,
    "loop-without-exit": false_exit,
    "loop-without-bound": unbounded_self,
    "loop-without-bound: pair": unbounded_pair,
    "loop-without-bound: wrong step": bound_on_the_wrong_step,
    "shadowed-route: person": rerouted(
        "shadowed-route", ":default", lambda to: {OK: to, FAIL: to, DEFAULT: to}, handler=PERSON
    ),
    "shadowed-route: declared": rerouted(
        "shadowed-route", ":default", lambda to: {OK: to, DEFAULT: to}, handler=_handler, outcomes=["ok"]
    ),
    "shadowed-route: dispatch": rerouted(
        "shadowed-route", ":default", lambda to: {OK: to, DEFAULT: to}, handler=EXPLORE
    ),
    "shadowed-route: one iteration": rerouted(
        "shadowed-route", ":iterate", lambda to: {OK: to, ITERATE: to}, max_iterations=1
    ),
    "route-never-given: dispatch": rerouted(
        "route-never-given", ":skip", lambda to: {OK: to, SKIP: to}, handler=EXPLORE
    ),
    "route-never-given: person": rerouted(
        "route-never-given", ":iterate", lambda to: {OK: to, FAIL: to, ITERATE: to}, handler=PERSON
    ),
    "route-never-given: declared": rerouted(
        "route-never-given", ":fail", lambda to: {OK: to, FAIL: to}, handler=_handler, outcomes=["ok"]
    ),
    "unrouted-outcome: declared": changed("unrouted-outcome", ":fail", handler=_handler, outcomes=["ok", "fail"]),
    "unrouted-outcome: dispatch": rerouted("unrouted-outcome", ":ok", lambda to: {FAIL: to}, handler=EXPLORE),
    "unrouted-answer": changed("unrouted-answer", ":fail", handler=PERSON),
    "unrouted-answer: any": any_answer,
    "when-without-route": changed("when-without-route", ":fail", when={OK: "always", FAIL: "never"}),
    "when-without-route: default": rerouted(
        "when-without-route", ":skip", lambda to: {OK: to, DEFAULT: to}, handler=_handler, when={SKIP: "at times"}
    ),
    "route-without-when": rerouted("route-without-when", "", lambda to: {OK: to, FAIL: to}, when={OK: "always"}),
    "route-without-when: blank": rerouted(
        "route-without-when", "", lambda to: {OK: to, FAIL: to}, when={OK: "always", FAIL: " "}
    ),
    "iteration-limit: 0": changed("iteration-limit", max_iterations=0),
    "iteration-limit: 0 on a loop": limit_of_none,
    "iteration-limit: no route": rerouted(
        "iteration-limit", "", lambda to: {OK: to, ITERATE: to}, max_iterations=2, at_limit="fail"
    ),
    "iteration-limit: for ever": rerouted(
        "iteration-limit", "", lambda to: {OK: to, ITERATE: to}, max_iterations=2, at_limit="iterate"
    ),
    "unused-limit": changed("unused-limit", max_iterations=4),
    "missing-tool: file": changed("missing-tool", requires=[Artifact("a.md")], tools=["read", "search"]),
    "missing-tool: sub-agents": changed(
        "missing-tool", handler=Dispatch(AgentRole.EXPLORE, task="Look."), tools=["read", "write"]
    ),
    "always-passing-command": changed("always-passing-command", requires=[Command(["/bin/true"])]),
    "always-passing-command: shell": changed(
        "always-passing-command", requires=[Command(["sh", "-c", "make test || true"])]
    ),
    "too-many-targets": changed(
        "too-many-targets", handler=Dispatch(AgentRole.EXPLORE, task="Look.", targets=["a", "b", "c"], cap=2)
    ),
    "too-many-targets: tasks": changed("too-many-targets", handler=Dispatch("explore", tasks=["a", "b"], cap=1)),
    "unusable-targets": targets_of_a_text,
    "uncertain-covers": covers_of(Field("files", "list", required=False)),
    "uncertain-covers: type": covers_of(Field("pages", "int")),
    "work-after-review": work_after_review,
    "empty-actions": changed("empty-actions", actions=[" "]),
    "empty-actions: repeat": changed("empty-actions", actions=["Look."], repeat=[""]),
    "artifact-outside-project": changed("artifact-outside-project", requires=[Artifact("../triage.md")]),
    "artifact-outside-project: absolute": changed("artifact-outside-project", requires=[Artifact("/tmp/triage.md")]),
    "artifact-outside-project: late": changed("artifact-outside-project", requires=[Artifact("a/../../triage.md")]),
    "unsupported-schema": changed("unsupported-schema", requires=[Artifact("a.json", {"unevaluatedItems": False})]),
    "unsupported-schema: type": changed("unsupported-schema", requires=[Artifact("a.json", {"type": "text"})]),
    "unsupported-schema: reference": changed("unsupported-schema", requires=[Artifact("a.json", {"$ref": "#/nope"})]),
    "unsupported-schema: circle": changed("unsupported-schema", requires=[Artifact("a.json", {"not": {"$ref": "#"}})]),
    "unsupported-schema: pattern": changed("unsupported-schema", requires=[Artifact("a.json", {"pattern": "("})]),
    "unknown-parameter-step": parameter_of_no_step,
    "repeated-name": changed("repeated-name", requires=[Field("note"), Field("note", "list")]),
    "repeated-name: parameter": field_and_parameter,
    "repeated-name: of the run": run_and_step_parameter,
    "empty-range": changed("empty-range", requires=[Field("cups", "int", minimum=5, maximum=2)]),
    "empty-range: of a run": parameter("empty-range", of_run=True, minimum=5, maximum=2),
    "empty-range: of a step": parameter("empty-range", type="list", minimum=2, maximum=1.5),
    "impossible-choice: int": changed("impossible-choice", requires=[Field("cups", "int", choices=["1", "two"])]),
    "impossible-choice: bool": changed("impossible-choice", requires=[Field("sure", "bool", choices=["yes"])]),
    "impossible-choice: items": changed("impossible-choice", requires=[Field("found", "items", choices=["a"])]),
    "impossible-choice: range": changed(
        "impossible-choice", requires=[Field("cups", "int", choices=["1", "7"], maximum=5)]
    ),
    "impossible-choice: blank entry": changed("impossible-choice", requires=[Field("cups", "list", choices=["a", ""])]),
    "impossible-choice: of a run": parameter("impossible-choice", of_run=True, type="float", choices=["much"]),
    "impossible-choice: person": changed("impossible-choice", handler=Person("Is it good?", {"yes": OK, " ": OK})),
    "repeated-choice": changed("repeated-choice", requires=[Field("tea", choices=["green", "black", "green"])]),
    "repeated-choice: number": changed("repeated-choice", requires=[Field("cups", "int", choices=["1", "01"])]),
    "repeated-choice: of a step": parameter("repeated-choice", choices=["green", "green"]),
    "ambiguous-choice: bar": changed("ambiguous-choice", requires=[Field("tea", choices=["green|black", "white"])]),
    "ambiguous-choice: flag": changed("ambiguous-choice", requires=[Field("tea", choices=["--green", "black"])]),
    "ambiguous-choice: space": changed("ambiguous-choice", requires=[Field("tea", choices=["green ", "black"])]),
    "ambiguous-choice: of a run": parameter("ambiguous-choice", of_run=True, choices=["-1", "black"]),
    "ambiguous-choice: person": changed("ambiguous-choice", handler=Person("By how much?", {"-1": OK, "0": OK})),
    "secret-read: needs": secret_field(lambda key: {"needs": [key]}),
    "secret-targets": secret_field(
        lambda key: {"handler": Dispatch(AgentRole.EXPLORE, task="Try it.", targets=key)}, "secret-targets"
    ),
    "secret-read: task": secret_field(lambda key: {"handler": Dispatch(AgentRole.EXPLORE, task=f"Try {{{key}}}.")}),
    "secret-read: params": secret_field(
        lambda key: {"handler": Dispatch(AgentRole.EXPLORE, script="x.py", params={"key": f"{{{key}}}"})}
    ),
    "secret-read: question": secret_field(lambda key: {"handler": Person(f"Is {{{key}}} right?", {"yes": OK})}),
    "secret-read: parameter": secret_parameter,
    "read-before-write: step": reads("read-before-write", lambda plan, at: "nowhere.colour"),
    "read-before-write: field": reads("read-before-write", lambda plan, at: f"{plan.id(at - 1)}.colour"),
    "read-before-write: parameter": reads("read-before-write", lambda plan, at: "topic"),
    "read-before-write: misspelt": unrecorded_field,
    "read-before-write: later": later_field,
    "read-before-write: command": changed("read-before-write", requires=[Command(["check", "{topic}"])]),
    "read-before-write: artifact": changed("read-before-write", requires=[Artifact("out/{topic}.md")]),
    "read-before-write: targets": changed(
        "read-before-write", handler=Dispatch(AgentRole.EXPLORE, task="Look.", targets="scope.areas")
    ),
    "read-before-write: template": changed(
        "read-before-write", handler=Dispatch(AgentRole.EXPLORE, script="x.py", targets=["a"], params={"p": "{targt}"})
    ),
    "read-on-some-paths": bypassed_field,
    "read-on-some-paths: targets": bypassed_targets,
    "review-without-gate": review_without_gate,
    "review-without-gate: past it": review_past_its_gate,
    "review-without-gate: no checkpoint": changed(
        "review-without-gate", handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review.")
    ),
    "gate-without-review": gate_without_review,
    "gate-without-review: past it": gate_past_its_review,
    "gate-without-review: back to it": gate_led_back_to,
    "gate-without-review: skipped": gate_past_a_skipped_review,
    "fail-without-return: none": gate_failing(lambda plan, at: {}),
    "fail-without-return: end": gate_failing(lambda plan, at: {FAIL: None}),
    "fail-without-return: forward": gate_failing(lambda plan, at: {FAIL: plan.id(at + 3)}),
    "fail-without-return: no work": gate_failing(lambda plan, at: {FAIL: plan.id(at + 1)}),
    "fail-without-return: one step": reviewer_failing_forward,
    "fallen-verdict": gate_that_is_never_stale,
    "fallen-verdict: for nothing": gate_that_is_stale_for_nothing,
    "fallen-verdict: past it": gate_that_is_stale_past_its_review,
    "fallen-verdict: of no review": changed(
        "fallen-verdict", handler=Dispatch(AgentRole.EXPLORE, task="Look.", covers=["src/**"])
    ),
    "bare-gate": changed("bare-gate", actions=[Rendered('<step number="2" gate="Plan"><DO>go on</DO></step>')]),
    "bare-gate: repeat": changed("bare-gate", actions=["First."], repeat=[Rendered("<gate>go on</gate>")]),
    "misspelt-outcome": rerouted("misspelt-outcome", ":fial", lambda onward: {OK: onward, Outcome("fial"): onward}),
    "word-named-once": rerouted(
        "word-named-once", ":more-guests", lambda onward: {OK: onward, MORE: onward}, when={OK: "all are served"}
    ),
    "word-named-once: alone": rerouted("word-named-once", ":more-guests", lambda onward: {MORE: onward}, when={}),
    "unbounded-word-loop": word_loop,
    "missing-title": changed("missing-title", title=" "),
    "repeated-title": repeated_title,
    "long-block": changed("long-block", actions=["word " * 2000]),
    "long-block: repeat": changed("long-block", actions=["short"], repeat=["<&>" * 1200]),
    "invalid-allow: name": changed("invalid-allow", allow={"no-such-rule": "a reason"}),
    "invalid-allow: reason": changed("invalid-allow", allow={"dead-end": " "}),
}
