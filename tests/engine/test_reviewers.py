"""Who reviews what: a target under review stays there until its checkpoint passes, and no failed item is lost."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from skills.lib.engine.decision import Move
from skills.lib.engine.engine import decide, open_run
from skills.lib.model.run import Request, Run
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.quality import review_loop
from skills.lib.workflow.requirements import Field
from skills.lib.workflow.types import Dispatch, Outcome
from tests.fixtures.worlds import EmptyWorld

REVIEWER = Dispatch("quality-reviewer", task="Review {target}.", targets="work.files")
WORK = [Field("files", "list")]


def separate() -> Workflow:
    review, gate = review_loop("d", work="work", passed="more", reviewer=REVIEWER)
    skips = {**review.next, Outcome.SKIP: "more"}
    review = StepDef(review.id, review.title, review.actions, skips, review.handler)
    return Workflow(
        "parts",
        StepDef("work", "Work", next={Outcome.OK: "d-review"}, requires=WORK),
        review,
        gate,
        StepDef("more", "More", next={Outcome.OK: None, Outcome.ITERATE: "work"}),
    )


def merged() -> Workflow:
    ways = {Outcome.OK: "more", Outcome.FAIL: "work", Outcome.SKIP: "more"}
    return Workflow(
        "parts",
        StepDef("work", "Work", next={Outcome.OK: "d"}, requires=WORK),
        StepDef("d", "Review", next=ways, handler=REVIEWER),
        StepDef("more", "More", next={Outcome.OK: None, Outcome.ITERATE: "work"}),
    )


class Walk(EmptyWorld):
    """A run of such a workflow, its reviewers played."""

    def __init__(self, workflow: Workflow) -> None:
        self.workflow = workflow
        self.brood: list[Run] = []
        move = open_run(workflow, Run(id="r", turn=1), {})
        assert isinstance(move, Move)
        self.run = move.run

    def children(self) -> list[Run]:
        return self.brood

    def go(self, **fields: Any) -> None:
        review = self.run.reviews.get("d") or {}
        failed = [one["id"] for one in review.get("items", ()) if one["status"] == "FAIL" and not review.get("passed")]
        if self.run.step == "work" and failed:
            fields["records"] = {**fields["records"], "fixes": [f"{name} | changed | it was fixed" for name in failed]}
        decision = decide(self.workflow, self.run, Request("next", run="r", turn=self.run.turn, **fields), self)
        assert isinstance(decision, Move), decision
        self.run = decision.run
        self.brood = [Run(id=f"r.{at}", status="pending", spec=spec) for at, spec in enumerate(decision.create, 1)]

    @property
    def reviewers(self) -> list[tuple[str, list[str]]]:
        """The target and the items of each reviewer that is to judge."""
        return [(child.spec["target"], [item["id"] for item in child.spec["items"]]) for child in self.brood]

    def judge(self, **reported: Any) -> None:
        """Let each reviewer report the items of its target (none: it is lost), and leave the review and its gate."""
        for at, child in enumerate(self.brood):
            items = reported[child.spec["target"]]
            if items is None:
                self.brood[at] = child.changed(status="lost", last={"reason": "gone"})
            else:
                self.brood[at] = child.changed(status="done", state={"task": {"items": items}}, last={"step": "task"})
        self.go()
        if self.run.step == "d-gate":
            self.go()


def item(name: str, status: str = "FAIL", severity: str = "MUST", check: str = "c") -> dict[str, str]:
    return {"id": name, "scope": "", "check": check, "severity": severity, "status": status, "finding": "f"}


def test_each_present_target_gets_its_own_items_again() -> None:
    walk = Walk(separate())
    walk.go(records={"files": ["one", "two"]})
    walk.judge(one=[item("x", "PASS")], two=[item("x"), item("y")])
    walk.go(records={"files": ["two", "one"]})
    assert walk.reviewers == [("two", ["x.2", "y"]), ("one", ["x"])]


def test_a_target_that_is_gone_is_given_out_with_its_items_and_a_new_one_is_a_first_review() -> None:
    for workflow in (separate(), merged()):
        walk = Walk(workflow)
        walk.go(records={"files": ["one"]})
        walk.judge(one=[item("x")])
        walk.go(records={"files": ["two"]})
        assert walk.reviewers == [("two", []), ("one", ["x"])]
        assert [child.spec["task"] for child in walk.brood] == ["Review two.", "Review one."]
        walk.judge(two=[item("new")], one=[item("x", "PASS")])
        assert walk.run.step == "work"


def test_no_targets_after_a_failed_review_lead_nowhere_past_it() -> None:
    for workflow in (separate(), merged()):
        walk = Walk(workflow)
        walk.go(records={"files": ["one"]})
        walk.judge(one=[item("x")])
        walk.go(records={"files": []})
        assert walk.reviewers == [("one", ["x"])]
        walk.judge(one=[item("x")])
        assert (walk.run.step, walk.run.reviews["d"]["iteration"]) == ("work", 2)
        walk.go(records={"files": []})
        walk.judge(one=[item("x", "PASS")])
        assert walk.run.step == "more"


def test_a_target_whose_reviewer_was_lost_and_that_is_gone_is_reviewed_for_the_first_time() -> None:
    walk = Walk(separate())
    walk.go(records={"files": ["one", "two"]})
    walk.judge(one=[item("x", "PASS")], two=None)
    assert walk.run.step == "work"
    walk.go(records={"files": ["one"]})
    assert walk.reviewers == [("one", ["x"]), ("two", [])]


def test_a_target_that_stands_twice_has_two_reviewers_with_their_own_items() -> None:
    walk = Walk(separate())
    walk.go(records={"files": ["one", "one"]})
    walk.brood[1].spec["target"] = "one"
    for at, name in enumerate(("x", "y")):
        done = walk.brood[at].changed(status="done", state={"task": {"items": [item(name)]}}, last={"step": "task"})
        walk.brood[at] = done
    walk.go()
    walk.go()
    walk.go(records={"files": ["one", "one"]})
    assert walk.reviewers == [("one", ["x"]), ("one", ["y"])]


def test_after_its_gate_passed_a_checkpoint_is_reviewed_anew() -> None:
    for workflow in (separate(), merged()):
        walk = Walk(workflow)
        for part in range(1, 6):
            walk.go(records={"files": ["one"]})
            assert walk.reviewers == [("one", [])]
            walk.judge(one=[item(f"part-{part}", "FAIL", "SHOULD")])
            assert (walk.run.step, walk.run.reviews["d"]["iteration"]) == ("work", 1)
            walk.go(records={"files": ["one"]})
            assert walk.reviewers == [("one", [f"part-{part}"])]
            walk.judge(one=[item(f"part-{part}", "PASS", "SHOULD")])
            assert (walk.run.step, walk.run.reviews["d"]["status"]) == ("more", "pass")
            walk.go(outcome="iterate")


def test_a_new_series_without_targets_is_skipped() -> None:
    walk = Walk(merged())
    walk.go(records={"files": ["one"]})
    walk.judge(one=[item("x", "PASS")])
    walk.go(outcome="iterate")
    walk.go(records={"files": []})
    walk.go()
    assert (walk.run.step, walk.run.last["outcome"]) == ("more", "skip")


def test_items_of_an_older_ledger_go_by_the_number_of_their_reviewer() -> None:
    walk = Walk(separate())
    walk.go(records={"files": ["one", "two"]})
    walk.judge(one=[item("x")], two=[item("x"), item("y")])
    for kept in walk.run.reviews["d"]["items"]:
        kept["id"] = kept["id"].partition(".")[0]
        del kept["target"]
    before = walk.run
    walk.go(records={"files": ["three", "one"]})
    assert walk.reviewers == [("three", ["x"]), ("one", ["x", "y"])]
    for files, reviewers in ((["one"], [("one", ["x", "x.2", "y"])]), ([], [("", ["x"]), ("", ["x", "y"])])):
        walk.run = before
        walk.go(records={"files": files})
        assert walk.reviewers == reviewers


TARGETS = st.lists(st.sampled_from(["one", "two", "three"]), max_size=3, unique=True)
VERDICTS = st.sampled_from(["PASS", "PASS", "FAIL", "TODO", "lost"])


@settings(max_examples=150, deadline=None)
@given(data=st.data(), workflow=st.sampled_from([separate(), merged()]))
def test_what_passed_was_judged_in_its_series_and_no_failed_item_is_lost(
    data: st.DataObject, workflow: Workflow
) -> None:
    walk = Walk(workflow)
    judged: set[str] = set()
    failed: dict[tuple[str, str], str] = {}
    names = iter(range(1_000))
    for _ in range(8):
        files = data.draw(TARGETS)
        walk.go(records={"files": files})
        if not walk.brood:
            assert not files
            assert not failed
            walk.go()
            assert walk.run.step == "more"
            walk.go(outcome="iterate")
            continue
        reports: dict[str, Any] = {}
        for child in walk.brood:
            target = child.spec["target"]
            verdict = data.draw(VERDICTS)
            known = [one["id"] for one in child.spec["items"]] or [f"i{next(names)}"]
            reports[target] = None if verdict == "lost" else [item(name, verdict) for name in known]
            assert {name for whose, name in failed if whose == target} <= set(known)
            if verdict != "lost":
                judged.add(target)
            for name in known:
                failed.pop((target, name), None)
                if verdict not in ("PASS", "lost") or (verdict == "lost" and child.spec["items"]):
                    failed[target, name] = verdict
        assert {target for target, _ in failed} <= set(reports)
        walk.judge(**reports)
        if walk.run.status == "waiting":
            return
        if walk.run.step == "more":
            assert set(files) <= judged
            assert not failed
            judged.clear()
            walk.go(outcome="iterate")
        else:
            assert walk.run.step == "work"
