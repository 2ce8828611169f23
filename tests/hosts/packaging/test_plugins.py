"""The files by which hosts take the repository as a plugin, and the repository at work in a host's copy."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from skills import __version__
from skills.lib import compact_json
from tests.hosts.packaging.conftest import BARE, ROOT, SKILLS, Run

pytestmark = pytest.mark.slow

PATHS = (
    ".agents/plugins/marketplace.json",
    ".claude-plugin/marketplace.json",
    ".claude-plugin/plugin.json",
    ".codex-plugin/plugin.json",
    "gemini-extension.json",
    "hooks/claude.json",
    "hooks/codex.json",
)
FILES = {path: (ROOT / path).read_text(encoding="utf-8") for path in PATHS}
DATA: dict[str, dict[str, Any]] = {path: json.loads(text) for path, text in FILES.items()}
SKILL = "codebase-analysis"


@pytest.mark.req("H-05")
def test_every_host_has_its_file_and_reads_the_same_name_and_version() -> None:
    for path in (".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "gemini-extension.json"):
        assert (DATA[path]["name"], DATA[path]["version"]) == ("lockstep", __version__)
    for path in (".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"):
        assert [plugin["name"] for plugin in DATA[path]["plugins"]] == ["lockstep"]


@pytest.mark.req("H-05")
def test_a_path_in_them_leads_to_something_of_the_repository(copied: Path) -> None:
    paths = set(re.findall(r'"(\./[^"]*)"', "".join(FILES.values())))
    assert paths == {"./", "./skills/", "./hooks/claude.json", "./hooks/codex.json"}
    assert all((copied / path).exists() for path in paths)


@pytest.mark.parametrize("path", FILES)
def test_they_name_no_machine_and_no_address(path: str) -> None:
    text = FILES[path]
    assert "://" not in text
    assert not re.search(r'"/|/(home|work|usr|tmp)/', text)
    assert text.isascii()


def test_codex_accepts_only_three_short_first_requests() -> None:
    prompts = DATA[".codex-plugin/plugin.json"]["interface"]["defaultPrompt"]
    assert len(prompts) == 3
    assert all(len(prompt) <= 128 for prompt in prompts)
    assert all(any(skill in prompt for skill in SKILLS) for prompt in prompts)


@pytest.mark.req("H-05")
@pytest.mark.parametrize("skill", SKILLS)
def test_a_skill_of_the_copied_repository_prints_its_first_step_on_a_bare_python(
    skill: str, copied: Path, tmp_path: Path
) -> None:
    script = copied / "skills" / skill / "scripts" / (skill.replace("-", "_") + ".py")
    options = ("--scope", "single-prompt") if skill == "prompt-engineer" else ()
    done = bare(tmp_path, str(script), "--step", "1", "--stateless", *options)
    assert done.returncode == 0, done.stderr + " (a seal that is not current: make seals)"
    assert re.match(rf'<step protocol="1" skill="{skill}[a-z-]*" id="[a-z-]+" number="1" ', done.stdout)
    assert f"{BARE} " in done.stdout


@pytest.mark.parametrize("host, root", [("claude", "CLAUDE_PLUGIN_ROOT"), ("codex", "PLUGIN_ROOT")])
@pytest.mark.req("H-05")
def test_the_hook_of_a_plugin_passes_without_a_run_and_blocks_on_a_fault_with_one(
    host: str, root: str, copied: Path, tmp_path: Path
) -> None:
    """The command stands in a path with a space, and is run by a shell as hosts do."""
    groups = DATA[f"hooks/{host}.json"]["hooks"]
    commands = {name: {hook["command"] for entry in group for hook in entry["hooks"]} for name, group in groups.items()}
    results = {name: found for name, found in commands.items() if name.startswith("PostToolUse")}
    [command] = {one for name, found in commands.items() if name not in results for one in found}
    [of_results] = {one for found in results.values() for one in found}
    assert of_results.endswith(f"|| exit 0; exec {command}")  # no process for a user without policies
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(BARE)
    environment = {**os.environ, root: str(copied), "LOCKSTEP_STATE": str(tmp_path / "state")}
    environment["PATH"] = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)

    def call(event: str) -> tuple[int, str]:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=project,
            env=environment,
            input=event,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.returncode, done.stdout + done.stderr

    event = {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "tool_name": "Bash",
        "tool_input": {"command": "--run"},
    }
    assert call(json.dumps(event)) == (0, "")
    followed = {"runs": [{"run": "abcd2345", "project": str(project), "script": "x.py"}]}
    (tmp_path / "state" / "sessions").mkdir(parents=True)
    (tmp_path / "state" / "sessions" / "one").write_text(compact_json.dumps(followed))
    code, said = call("{ this is no JSON")
    assert code == 2
    assert "lockstep doctor" in said


@pytest.mark.req("H-05")
def test_codex_itself_installs_the_plugin_with_its_skills_and_hooks(copied: Path, client: Run, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    added = client("codex", "plugin", "marketplace", "add", str(copied), cwd=project)
    assert added.returncode == 0, added.stderr
    made = client("codex", "plugin", "add", "lockstep@lockstep", "--json", cwd=project)
    assert made.returncode == 0, made.stderr
    place = Path(json.loads(made.stdout)["installedPath"])
    assert place.parts[-2:] == ("lockstep", __version__)
    seen = client("codex", "debug", "prompt-input", "x", cwd=project).stdout
    assert all(f"- lockstep:{skill}: " in seen for skill in SKILLS)
    script = place / "skills" / SKILL / "scripts" / "codebase_analysis.py"
    assert bare(project, str(script), "--step", "1", "--stateless").returncode == 0


@pytest.mark.req("H-05")
def test_gemini_itself_installs_the_extension_with_its_skills(copied: Path, client: Run, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    checked = client("gemini", "extensions", "validate", str(copied), cwd=project)
    assert "has been successfully validated" in checked.stdout + checked.stderr
    made = client("gemini", "extensions", "install", str(copied), "--consent", cwd=project, given="y\n")
    assert 'Extension "lockstep" installed successfully' in made.stdout + made.stderr
    shown = client("gemini", "skills", "list", cwd=project)
    listed = re.findall(r"^([a-z-]+) \[Enabled\]", shown.stdout + shown.stderr, re.MULTILINE)
    assert set(SKILLS) <= set(listed)


def bare(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the interpreter without anything installed, and without a seal or a cache of the machine's."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["XDG_CACHE_HOME"] = str(folder / "cache")
    command = [BARE, "-I", "-S", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
