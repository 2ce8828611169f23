"""A damaged ledger is reported by name, or shows what was once committed; no gate passes, nothing is reset."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skills.lib.errors import LedgerError
from skills.lib.ledger import Ledger, verification
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from skills.lib.testing.follower import InProcess
from tests.fixtures.deviations import recorded_state
from tests.fixtures.processes import ended, forked
from tests.fixtures.skill import install, source_of

PYTHON = shlex.quote(sys.executable)

Factory = Callable[[str], Agent]
FAILED_ITEM = {"id": "a", "scope": "", "check": "c", "severity": "MUST", "status": "FAIL", "finding": "f"}


class Kept:
    """A ledger with a few runs, one of them before a shut gate; what each command prints while all is well."""

    def __init__(self, tour: Agent, gated: Agent) -> None:
        self.tour = tour
        self.file = tour.project / ".lockstep" / "runs.db"
        gated.write("out.txt", "done")
        done = tour.follow(tour.follow(tour.open(topic="over"), summary="s"), mode="quick")
        done = tour.follow(tour.follow(tour.follow(done, outcome="skip"), answer="yes"), report="r" * 3_000)
        assert done.kind == "done"
        self.plan = tour.follow(tour.open(topic="why it is slow"), summary="s" * 2_000)
        write = gated.open()
        review = gated.follow(write)
        for child in review.children:
            last = gated.follow(gated.run_command(child.command), items=[FAILED_ITEM])
        self.gate = gated.run_command(last.next)
        assert self.gate.step == "design-gate"
        recorded_state(tour)
        self._fold()
        self.content = self.file.read_bytes()
        self.commands = {
            "show": self.plan.next.partition(" --step")[0]
            + f" --step current --run {self.plan.run} --project {tour.project}",
            "move": filled(self.plan.next, {"mode": "full"}),
            "gate": self.gate.next,
            "begin": f"{PYTHON} {tour.script} --step 1 --topic 'why it is slow' --project {tour.project}",
        }
        self.sound = {name: self.run(command) for name, command in self.commands.items()}
        assert (self.sound["show"].step, self.sound["show"].context) == (self.plan.step, self.plan.context)
        assert self.sound["move"].step == "dig"
        assert self.sound["gate"].step == "write"
        assert self.sound["begin"].code == "already-open"

    def _fold(self) -> None:
        connection = sqlite3.connect(self.file)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()

    def put(self, content: bytes) -> None:
        """Let the database be just these bytes."""
        for suffix in ("-wal", "-shm", "-journal"):
            Path(f"{self.file}{suffix}").unlink(missing_ok=True)
        self.file.write_bytes(content)

    def run(self, command: str, content: bytes | None = None) -> PrintedBlock:
        """Run a command on a ledger of these bytes (the sound ones)."""
        self.put(self.content if content is None else content)
        return self.tour.call(command)

    def assert_told_or_true(self, content: bytes, what: str, names: tuple[str, ...] = ("show", "move", "gate")) -> int:
        """Run each command on a ledger of its own: it reports the damage or sees none. Return how many reported it."""
        told = 0
        for name in names:
            block = self.run(self.commands[name], content)
            if block.exit_code == 4:
                told += 1
                assert block.text == "", what
                assert str(self.file) in block.errors, what
                assert "Traceback" not in block.errors
                continue
            sound = self.sound[name]
            assert (block.exit_code, block.text) == (sound.exit_code, sound.text), f"{what}: {name}: {block}"
        return told


@pytest.fixture
def kept(agent: Factory) -> Kept:
    return Kept(agent("tour"), agent("gated"))


@pytest.mark.slow
def test_a_flipped_bit_in_any_page_is_reported_or_does_no_harm(kept: Kept) -> None:
    size = 4096
    chance = random.Random(7)
    assert len(kept.content) % size == 0
    told = seen = 0
    for page in range(0, len(kept.content), size):
        # The headers of page and file, the pointers behind them, the ends of the cells, and some of the rest.
        places = {*range(24), *range(96, 112), *range(size - 16, size), *chance.sample(range(size), 24)}
        for place in sorted(places):
            content = bytearray(kept.content)
            content[page + place] ^= 1 << chance.randrange(8)
            told += kept.assert_told_or_true(
                bytes(content), f"byte {page + place}", (chance.choice(["show", "move", "gate"]),)
            )
            seen += 1
    assert seen > 500
    assert told > seen // 20


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_is_written_over_it(kept: Kept, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(kept.content) - 1))
    scrap = data.draw(st.binary(min_size=1, max_size=64) | st.sampled_from([b"\0" * 512, b"\xff" * 4096]))
    content = kept.content[:at] + scrap + kept.content[at + len(scrap) :]
    kept.assert_told_or_true(content, f"{len(scrap)} bytes at {at}", ("move", "gate"))


def test_a_table_whose_definition_is_no_text_is_reported(kept: Kept) -> None:
    at = kept.content.index(b"CREATE TABLE runs")
    for scrap in (b"\xb2REATE TABLE runs", b"CREATE \xff\xb2BLE runs"):
        content = kept.content[:at] + scrap + kept.content[at + len(scrap) :]
        assert kept.assert_told_or_true(content, repr(scrap)) == 3


def test_rows_that_belong_to_the_record_are_noticed(kept: Kept) -> None:
    """Every byte of the rows that the commands read: a flipped bit there is reported."""
    at = kept.content.find(b'"summary":"' + b"s" * 100)
    for place in range(max(at - 300, 0), at + 100, 7):
        content = bytearray(kept.content)
        content[place] ^= 4
        kept.assert_told_or_true(bytes(content), f"byte {place}")


@pytest.mark.parametrize("unit", [4096, 1009])
def test_a_file_that_is_cut_anywhere_is_reported(kept: Kept, unit: int) -> None:
    for length in range(0, len(kept.content), unit):
        told = kept.assert_told_or_true(kept.content[:length], f"cut to {length} bytes")
        assert told == 3 or length > len(kept.content) - 4096, f"cut to {length} bytes"


def test_beginning_again_on_a_damaged_ledger_resets_nothing(kept: Kept) -> None:
    chance = random.Random(11)
    rows = [at for at in range(len(kept.content)) if kept.content.startswith(kept.plan.run.encode(), at)]
    places = {at + chance.randrange(-40, 120) for at in rows for _ in range(60)}
    for place in sorted(place for place in places if 0 <= place < len(kept.content)):
        content = bytearray(kept.content)
        content[place] ^= 1 << chance.randrange(7)
        kept.assert_told_or_true(bytes(content), f"byte {place}", ("begin",))


def damaged_log(kept: Kept) -> Iterator[tuple[str, bytes | None]]:
    """Ways in which the write-ahead log of a ledger may be gone or damaged."""
    log = Path(f"{kept.file}-wal").read_bytes()
    yield "removed", None
    yield "emptied", b""
    for length in range(1, len(log), 4096 // 2):
        yield f"cut to {length}", log[:length]
    chance = random.Random(3)
    for _ in range(60):
        at = chance.randrange(len(log))
        flipped = bytearray(log)
        flipped[at] ^= 1 << chance.randrange(8)
        yield f"byte {at}", bytes(flipped)


def test_a_damaged_log_of_writes_shows_a_state_that_was_once_committed(agent: Factory, tmp_path: Path) -> None:
    tour = agent("tour")
    blocks: list[PrintedBlock] = []

    def move(next_command: str, values: dict[str, str]) -> PrintedBlock:
        # In a process that leaves as the step command does, so that the log stays.
        leaving = InProcess(leaves=True)
        assert ended(forked(lambda: leaving(filled(next_command, values)).exit_code)) == 0
        home, safe = tour.project / ".lockstep", tmp_path / "safe"
        shutil.copytree(home, safe)
        block = tour.call(filled(next_command, values))
        shutil.rmtree(home)
        shutil.move(safe, home)
        return block

    start = f"{PYTHON} {tour.script} --step 1 --topic why --project {tour.project}"
    blocks.append(move(start, {}))
    for values in ({"summary": "s" * 6_000}, {"mode": "full"}, {"confidence": "low"}):
        blocks.append(move(blocks[-1].next, values))
    kept = tmp_path / "kept"
    home = tour.project / ".lockstep"
    shutil.copytree(home, kept)
    assert (home / "runs.db-wal").stat().st_size > 10_000

    class Files:
        file = home / "runs.db"

    current = f"{start.partition(' --step')[0]} --step current --run {blocks[0].run} --project {tour.project}"
    once = {block.text for block in blocks}
    seen: set[str] = set()
    for what, content in damaged_log(Files()):  # type: ignore[arg-type]
        shutil.rmtree(home)
        shutil.copytree(kept, home)
        (home / "runs.db-shm").unlink(missing_ok=True)
        if content is None:
            (home / "runs.db-wal").unlink()
        else:
            (home / "runs.db-wal").write_bytes(content)
        block = tour.call(current)
        if block.exit_code == 4:
            assert str(home / "runs.db") in block.errors, what
        elif block.exit_code == 3:
            assert block.code == "unknown-run", what
        else:
            assert block.text in once, what
        seen.add(str(block.exit_code) if block.exit_code else block.step)
    assert {"dig", "plan"} <= seen


@pytest.mark.parametrize("make", ["empty", "foreign", "newer", "older", "text", "folder", "missing"])
def test_a_file_that_is_no_ledger_is_named_and_left_alone(kept: Kept, make: str) -> None:
    kept.put(kept.content)
    file = kept.file
    if make in ("empty", "text"):
        kept.put(b"" if make == "empty" else b"dear diary, " * 900)
    elif make in ("foreign", "newer", "older"):
        connection = sqlite3.connect(file)
        pragma = {"foreign": "application_id=77", "newer": "user_version=99", "older": "user_version=0"}[make]
        connection.execute(f"PRAGMA {pragma}")
        connection.close()
    else:
        file.unlink()
        for suffix in ("-wal", "-shm"):
            Path(f"{file}{suffix}").unlink(missing_ok=True)
        if make == "folder":
            file.mkdir()
    before = file.read_bytes() if file.is_file() else None
    for name in ("show", "move", "gate", "begin"):
        block = kept.tour.call(kept.commands[name])
        assert (block.exit_code, block.text) == (4, ""), name
        assert str(file) in block.errors
        assert "  try:   " in block.errors
    assert (file.read_bytes() if file.is_file() else None) == before
    assert ("upgrade Lockstep" in block.errors) == (make == "newer")


def test_a_foreign_database_in_a_new_project_is_not_touched(agent: Factory) -> None:
    tour = agent("tour")
    file = tour.project / ".lockstep" / "runs.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE bookmarks(url)")
    connection.commit()
    connection.close()
    before = file.read_bytes()
    block = tour.open(topic="why")
    assert (block.exit_code, block.text) == (4, "")
    assert f"the ledger {file} is not a ledger of Lockstep" in block.errors
    assert file.read_bytes() == before


def mounted(tmp_path: Path, options: str, script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script with a small file system of its own mounted at ``tmp_path/mount``, or skip."""
    mount = tmp_path / "mount"
    mount.mkdir()
    begin = f"mount -t tmpfs -o {options} tmpfs {mount}"
    tried = subprocess.run(["unshare", "-m", "sh", "-c", begin], capture_output=True, check=False) if _can() else None
    if tried is None or tried.returncode:
        pytest.skip("this machine lets no test mount a file system")
    return subprocess.run(
        ["unshare", "-m", "bash", "-c", f"{begin} && {script}"], capture_output=True, text=True, timeout=60
    )


def _can() -> bool:
    return sys.platform == "linux" and os.geteuid() == 0 and shutil.which("unshare") is not None


def test_a_project_that_can_only_be_read(agent: Factory, tmp_path: Path) -> None:
    tour = agent("tour")
    mount = tmp_path / "mount"
    begin = f"{PYTHON} {tour.script} --step 1 --topic why --project {mount}"
    done = mounted(tmp_path, "size=4m", f"mount -o remount,ro {mount}; {begin}")
    assert (done.returncode, done.stdout) == (4, "")
    assert str(mount / ".lockstep") in done.stderr
    assert "set LOCKSTEP_HOME to a folder that can be written" in done.stderr


def test_a_ledger_that_can_only_be_read(agent: Factory, tmp_path: Path) -> None:
    tour = agent("tour")
    mount = tmp_path / "mount"
    begin = f"{PYTHON} {tour.script} --step 1 --topic why --project {mount}"
    other = begin.replace("why", "else")
    done = mounted(tmp_path, "size=4m", f"{begin} >/dev/null && mount -o remount,ro {mount}; {other}")
    assert (done.returncode, done.stdout) == (4, "")
    assert str(mount / ".lockstep" / "runs.db") in done.stderr
    assert "Traceback" not in done.stderr


COVERING = """
StepDef("work", "Work", "Work.", {{Outcome.OK: "d-review"}}),
*review_loop("d", work="work", passed="last", gate_actions="{own}",
    reviewer=Dispatch("quality-reviewer", task="Review it.", covers=["out.txt"])),
StepDef("last", "Last", "Stop.", {{Outcome.OK: None}})
"""
LOSSES = {
    "the events of the run": "DELETE FROM events WHERE run='{run}'",
    "a reviewer's run": "DELETE FROM runs WHERE id='{child}'",
    "a reviewer's run with its events": "DELETE FROM runs WHERE id='{child}'; DELETE FROM events WHERE run='{child}'",
    "a reviewer's events": "DELETE FROM events WHERE run='{child}'",
    "the definition": "DELETE FROM definitions",
    "the files that were reviewed": "DELETE FROM contents",
}


@pytest.mark.parametrize("own", ["", "Tell the user."], ids=["walked through", "by its own command"])
@pytest.mark.parametrize("lost", LOSSES)
def test_no_gate_opens_if_the_evidence_of_its_review_was_lost(
    tmp_path: Path, project: Path, lost: str, own: str
) -> None:
    source = source_of("covering", COVERING.format(own=own))
    gated = Agent(install(tmp_path, "covering", source), project)
    gated.write("out.txt", "done")
    block = gated.follow(gated.open())
    [child] = block.children
    found = {**FAILED_ITEM, "status": "PASS", "place": "out.txt:1"}
    last = gated.follow(gated.run_command(child.command), items=[found])
    command = last.next
    if own:
        gate = gated.run_command(command)
        assert gate.step == "d-gate"
        command = gate.next
    base = sqlite3.connect(gated.project / ".lockstep" / "runs.db")
    base.executescript(LOSSES[lost].format(run=block.run, child=child.id))
    base.close()
    refused = gated.run_command(command)
    if refused.exit_code == 0:  # what is lost was not looked at before
        assert refused.step == "d-gate"
        refused = gated.run_command(refused.next)
    assert (refused.exit_code, refused.text) == (4, "")
    assert "runs.db is damaged" in refused.errors
    with Ledger(str(gated.project / ".lockstep")) as ledger, pytest.raises(LedgerError, match=r"runs.db is damaged"):
        verification.verify(ledger)


def test_a_run_of_a_ledger_that_can_only_be_read_goes_on_in_a_copy_of_its_folder(
    agent: Factory, tmp_path: Path
) -> None:
    tour = agent("tour")
    mount, copy = tmp_path / "mount", tmp_path / "copy"
    start = f"{PYTHON} {tour.script} --project {mount}"
    script = (
        f"{start} --step 1 --topic why >{tmp_path}/opened; "
        f"run=$(sed -n '1s/.* run=\"\\([a-z0-9]*\\)\".*/\\1/p' {tmp_path}/opened); mount -o remount,ro {mount}; "
        f"{start} --step next --run $run --turn 1 --record summary=s; cp -r {mount}/.lockstep {copy}; "
        f"LOCKSTEP_HOME={copy} {start} --step next --run $run --turn 1 --record summary=s"
    )
    done = mounted(tmp_path, "size=4m", script)
    home = mount / ".lockstep"
    assert f"make {home} writable; or copy it to a folder that can be written, and set LOCKSTEP_HOME" in done.stderr
    assert (done.returncode, PrintedBlock(0, done.stdout).turn) == (0, 2)


@pytest.mark.parametrize("step", ["1 --topic why", "current --run abcdefgh", "next"])
def test_a_ledger_that_may_not_be_looked_into_is_told_as_such(
    agent: Factory, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tour = agent("tour")
    home = tour.project / ".lockstep"
    home.rmdir()
    home.symlink_to(home)  # root may not look into it either
    monkeypatch.setenv("LOCKSTEP_HOME", str(home))  # which may be a link
    block = tour.run_command(f"{PYTHON} {tour.script} --project {tour.project} --step {step}")
    assert block.exit_code == 4
    assert f"the ledger's folder {home} cannot be read: Too many levels of symbolic links" in block.errors


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes where it likes")
def test_a_folder_that_may_not_be_written(agent: Factory) -> None:
    tour = agent("tour")
    (tour.project / ".lockstep").chmod(0o500)
    block = tour.open(topic="why")
    assert block.exit_code == 4
    assert "LOCKSTEP_HOME" in block.errors


def test_a_full_disk_is_reported_and_the_run_stays_at_its_step(agent: Factory, tmp_path: Path) -> None:
    tour = agent("tour")
    mount = tmp_path / "mount"
    begin = f"{PYTHON} {tour.script} --step 1 --topic why --project {mount}"
    move = begin.replace("--step 1 --topic why", "--step plan --run $run --turn 1 --record summary=s")
    script = (
        f"export PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME={tmp_path}/cache; out=$({begin}) || exit 90;"
        ' run=$(echo "$out" | sed -n \'s/.* run="\\([a-z0-9]*\\)".*/\\1/p\');'
        f" dd if=/dev/zero of={mount}/fill bs=1k 2>/dev/null; {move}; echo first $?;"
        f" rm {mount}/fill; {move} | head -1; echo second $?"
    )
    done = mounted(tmp_path, "size=256k", script)
    assert "first 4" in done.stdout, done.stdout + done.stderr
    assert "make room on the disk and run the same command again" in done.stderr
    assert 'id="plan"' in done.stdout.partition("first 4")[2], done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("second 0")


@pytest.mark.parametrize("limit", [0, 1, 4, 16, 40, 64])
def test_a_limit_on_the_size_of_files_is_reported(agent: Factory, limit: int) -> None:
    """RLIMIT_FSIZE in blocks of 1,024 bytes: the write that would pass it fails."""
    import resource

    tour = agent("tour")

    def limited() -> int:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit * 1024, limit * 1024))
        block = tour.open(topic="why it is slow")
        if block.exit_code == 0:
            block = tour.follow(block, summary="s" * 20_000)
        if block.exit_code == 4 and (str(tour.project / ".lockstep") not in block.errors or block.text):
            return 98
        return block.exit_code

    assert ended(forked(limited)) == (0 if limit > 999 else 4)
    begun = tour.open(topic="why it is slow")
    assert (begun.exit_code, begun.step) == (0, "begin")
    assert tour.follow(begun, summary="s" * 20_000).step == "plan"
    recorded_state(tour)
