"""What holds of the user's lockstep.toml and a project's, and what is said of a wrong one."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skills.lib.agent.configuration.lockstep_toml import Budgets, Configuration, Price, load
from skills.lib.errors import UsageError

USERS = """
[agent]
model = "sonnet"
max_iterations = 20
max_retries_per_tool = 5
injection = ["pr-reviewer"]

[agent.visibility]
default_visibility = "SUMMARY"
roles = { END_USER = "SUMMARY", DEVELOPER = "FULL" }
sensitive_tools = [{ type = "DATABASE", visibility = "HIDDEN" }]
sensitive_fields = ["pin"]

[agent.tool_types]
"shell(psql:*)" = "DATABASE"

[agent.budgets]
usd_per_day = 5
tokens_per_run = 100_000

[agent.models]
sonnet = "openai:gpt-5.2"

[agent.prices."openai:own-1.5"]
input = 0.5
output = 2
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, beside the user's folder ``config``."""
    (tmp_path / "config").mkdir()
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.setenv("LOCKSTEP_CONFIG", str(tmp_path / "config"))
    return tmp_path


def loaded(folder: Path, users: str = "", projects: str = "", pyproject: str = "") -> Configuration:
    for path, text in (
        ("config/lockstep.toml", users),
        ("project/lockstep.toml", projects),
        ("project/pyproject.toml", pyproject),
    ):
        (folder / path).write_text(text, encoding="utf-8")
    return load(str(folder / "project"))


def said(folder: Path, users: str = "", projects: str = "", pyproject: str = "") -> list[str]:
    with pytest.raises(UsageError) as raised:
        loaded(folder, users, projects, pyproject)
    return [line.replace(f"{folder}{os.sep}", "").replace(os.sep, "/") for line in raised.value.lines()]


@pytest.mark.req("A-08.3")
def test_the_user_sets_defaults(folder: Path) -> None:
    found = loaded(folder, USERS)
    assert (found.settings.max_iterations, found.settings.tool_failures, found.settings.early_ends) == (20, 5, 3)
    assert (found.model, found.models, found.injection) == ("sonnet", {"sonnet": "openai:gpt-5.2"}, ("pr-reviewer",))
    assert found.visibility.default_visibility == "SUMMARY"
    assert found.visibility.roles == {"END_USER": "SUMMARY", "DEVELOPER": "FULL", "ADMIN": "FULL"}
    assert found.visibility.sensitive_tools == {"DATABASE": "HIDDEN"}
    assert found.visibility.sensitive_fields == ("pin",)
    assert found.tool_types == {"shell(psql:*)": ("DATABASE",)}
    assert found.budgets == Budgets(tokens_per_run=100_000, usd_per_day=5.0)
    assert found.prices == {"openai:own-1.5": Price(input=0.5, output=2.0, cached_input=0.5)}


def test_without_a_file_the_defaults_hold(folder: Path) -> None:
    found = load(str(folder / "project"))
    assert (found.settings.max_iterations, found.settings.tool_failures) == (15, 3)
    assert (found.model, found.base_url, found.models, found.prices) == ("", "", {}, {})
    assert found.budgets == Budgets()
    assert found.visibility.default_visibility == "FULL"


@pytest.mark.req("A-08.3")
def test_a_project_narrows(folder: Path) -> None:
    narrower = """
[agent]
max_iterations = 8
enable_error_recovery = false
[agent.visibility]
default_visibility = "HIDDEN"
sensitive_tools = [{ type = "BASH", visibility = "SUMMARY" }]
sensitive_fields = ["iban"]
[agent.tool_types]
"shell(psql:*)" = "API"
[agent.budgets]
usd_per_day = 2
tokens_per_day = 50
"""
    found = loaded(folder, USERS, narrower)
    assert found.settings.max_iterations == 8
    assert found.visibility.default_visibility == "HIDDEN"
    assert found.visibility.sensitive_tools == {"DATABASE": "HIDDEN", "BASH": "SUMMARY"}
    assert found.visibility.sensitive_fields == ("pin", "iban")
    assert found.tool_types == {"shell(psql:*)": ("DATABASE", "API")}
    assert found.budgets == Budgets(tokens_per_run=100_000, usd_per_day=2.0, tokens_per_day=50)


@pytest.mark.req("A-08.3")
def test_a_project_never_widens_and_is_told_so(folder: Path) -> None:
    wider = """
[tool.lockstep.agent]
max_iterations = 90
[tool.lockstep.agent.visibility]
default_visibility = "FULL"
roles.END_USER = "FULL"
sensitive_tools = [{ type = "DATABASE", visibility = "FULL" }]
sensitive_fields = []
[tool.lockstep.agent.budgets]
usd_per_day = 500
"""
    found, users = loaded(folder, USERS, pyproject=wider), loaded(folder, USERS)
    for name in ("settings", "visibility", "budgets", "tool_types"):
        assert getattr(found, name) == getattr(users, name), name
    unheeded = {one.path: one.unheeded for one in found.in_force if one.unheeded}
    assert unheeded["agent.max_iterations"] == f"{folder}/project/pyproject.toml:3"
    assert unheeded["agent.budgets.usd_per_day"] == f"{folder}/project/pyproject.toml:10"
    assert len(unheeded) == 6


def test_each_value_says_where_it_is_from(folder: Path) -> None:
    found = loaded(folder, USERS, "[agent]\nmax_iterations = 8\n[agent.visibility]\nsensitive_fields = ['iban']")
    places = {one.path: one.place.replace(str(folder), "") for one in found.in_force}
    assert places["agent.max_iterations"] == "/project/lockstep.toml:2"
    assert places["agent.max_retries_per_tool"] == "/config/lockstep.toml:5"
    assert places["agent.visibility.sensitive_fields"] == "/config/lockstep.toml:12, /project/lockstep.toml:4"
    assert places["agent.early_ends"] == "default"
    assert places['agent.prices."openai:own-1.5".input'] == "/config/lockstep.toml:25"


@pytest.mark.req("A-08.5")
@pytest.mark.parametrize(
    "users, lines",
    [
        (
            "[agent]\nmax_iteration = 3",
            [
                "config/lockstep.toml:2: there is no setting agent.max_iteration; did you mean max_iterations?",
                "  valid: model, base_url, max_iterations, most_iterations, max_retries_per_tool, "
                "timeout_per_iteration, enable_error_recovery, max_model_calls, early_ends, "
                "context_tokens, undeclared, injection, shell, visibility, tool_types, budgets, models, prices",
            ],
        ),
        (
            "# mine\n\n[agents]\nmodel = 'x'",
            ["config/lockstep.toml:3: there is no setting agents; did you mean agent?", "  valid: agent, phases"],
        ),
        (
            '[agent]\nmax_iterations = "3"',
            [
                "config/lockstep.toml:2: agent.max_iterations is '3'",
                "  valid: a whole number of 1 or more",
            ],
        ),
        (
            "[agent]\nmax_iterations = true",
            [
                "config/lockstep.toml:2: agent.max_iterations is True",
                "  valid: a whole number of 1 or more",
            ],
        ),
        (
            "[agent]\ntimeout_per_iteration = '30 parsecs'",
            [
                "config/lockstep.toml:2: agent.timeout_per_iteration is '30 parsecs'",
                '  valid: a time above 0, as "30s", "2m" or 30 (seconds)',
            ],
        ),
        (
            "[agent.visibility]\ndefault_visibility = 'summery'",
            [
                "config/lockstep.toml:2: agent.visibility.default_visibility is 'summery'; did you mean SUMMARY?",
                "  valid: FULL, SUMMARY, HIDDEN",
            ],
        ),
        (
            "[agent.visibility]\n\nroles = { END_USR = 'FULL' }",
            [
                "config/lockstep.toml:3: there is no setting agent.visibility.roles.END_USR; did you mean END_USER?",
                "  valid: END_USER, DEVELOPER, ADMIN",
            ],
        ),
        (
            "[agent.visibility]\nroles = 'FULL'",
            [
                "config/lockstep.toml:2: agent.visibility.roles is no table",
                "  valid: a table with END_USER, DEVELOPER, ADMIN",
            ],
        ),
        (
            "[agent.visibility]\nsensitive_tools = [{ type = 'DATABSE', visibility = 'HIDDEN' }]",
            [
                "config/lockstep.toml:2: agent.visibility.sensitive_tools has the type DATABSE, and no tool is of it; "
                "did you mean DATABASE?",
                "  valid: API, BASH, DATABASE, FILE",
                "  try:   give the type to a tool in [agent.tool_types]",
            ],
        ),
        (
            "[agent.budgets]\nusd_per_day = inf",
            ["config/lockstep.toml:2: agent.budgets.usd_per_day is inf", "  valid: an amount in US dollars above 0"],
        ),
        (
            "[agent.models]\nsonet = 'openai:x'",
            [
                "config/lockstep.toml:2: there is no setting agent.models.sonet; did you mean sonnet?",
                "  valid: haiku, sonnet, opus, custom",
            ],
        ),
        (
            "[agent]\nmodels.sonnet = 'gpt-5.2'",
            [
                "config/lockstep.toml:2: agent.models.sonnet is 'gpt-5.2'",
                '  valid: provider:name, as "openai:gpt-5.2"',
            ],
        ),
        (
            "[agent.prices.'openai:x']\noutput = 1",
            [
                'config/lockstep.toml:2: agent.prices."openai:x" has no input price',
                "  valid: input, output, cached_input",
            ],
        ),
        (
            "[agent\n",
            [
                "config/lockstep.toml cannot be read: Expected ']' at the end of a table declaration (at line 1, "
                "column 7)",
                "  valid: a file of TOML in UTF-8",
            ],
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(folder: Path, users: str, lines: list[str]) -> None:
    assert said(folder, users) == lines


def test_all_that_is_wrong_is_told_at_once(folder: Path) -> None:
    lines = said(
        folder,
        '[agent]\nmodle = "x"\n[agent.budgets]\nusd_per_run = -1\n',
        '[agent]\nmodel = "openai:x"\nmax_iterations = 0\n',
    )
    assert [line.partition(" (valid")[0] for line in "\n".join(lines).splitlines()] == [
        "4 settings are wrong",
        "  config/lockstep.toml:2: there is no setting agent.modle; did you mean model?",
        "  config/lockstep.toml:4: agent.budgets.usd_per_run is -1",
        "  project/lockstep.toml:2: agent.model is the user's to set, and a project cannot",
        "  project/lockstep.toml:3: agent.max_iterations is 0",
    ]


@pytest.mark.req("A-08.4")
@pytest.mark.parametrize(
    "key",
    [
        "model = 'opus'",
        "base_url = 'http://127.0.0.1:1/v1'",
        "injection = ['x']",
        "models.opus = 'openai:x'",
        "prices.'openai:x' = { input = 0, output = 0 }",
    ],
)
def test_a_project_sets_nothing_that_is_the_users(folder: Path, key: str) -> None:
    first, *others = said(folder, projects=f"[agent]\n{key}")
    assert "project/lockstep.toml:2: agent." in first
    assert first.endswith("is the user's to set, and a project cannot")
    several = "settings are wrong" in first
    assert several or others == ["  try:   take it out there; a user sets it in config/lockstep.toml"]


def test_a_project_that_is_a_trap_is_read_in_no_time(folder: Path) -> None:
    os.mkfifo(folder / "project" / "lockstep.toml")
    with pytest.raises(UsageError, match="it is not a regular file"):
        load(str(folder / "project"))
    (folder / "project" / "lockstep.toml").unlink()
    (folder / "project" / "lockstep.toml").write_bytes(b"a" * (2 << 20))
    with pytest.raises(UsageError, match="it is larger than"):
        load(str(folder / "project"))
    (folder / "project" / "lockstep.toml").write_text("a = " + "[" * 100_000, encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be read"):
        load(str(folder / "project"))


def test_a_link_out_of_a_project_is_not_read_and_tells_nothing_of_what_it_leads_to(folder: Path) -> None:
    (folder / "secret.toml").write_text('[agent]\ntoken = "hunter2"\n', encoding="utf-8")
    (folder / "project").mkdir(exist_ok=True)
    (folder / "project" / "lockstep.toml").symlink_to(folder / "secret.toml")
    with pytest.raises(UsageError) as raised:
        load(str(folder / "project"))
    assert raised.value.what.endswith("lockstep.toml is a link that leads out of the project")


def test_of_very_many_wrong_settings_the_first_are_told(folder: Path) -> None:
    lines = said(folder, "[agent]\n" + "".join(f"k{number} = 1\n" for number in range(40_000)))
    assert lines[0].splitlines()[0] == "more than 20 settings are wrong"
    assert len(lines[0].splitlines()) == 21


def test_a_relative_configuration_folder_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "project" / "lockstep.toml").write_text("[agent]\nmodel = 'opus'", encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LOCKSTEP_CONFIG", "project")
    with pytest.raises(UsageError, match="is the user's to set"):
        load(str(folder / "project"))


def test_a_user_whose_folder_is_a_project_sets_all(folder: Path) -> None:
    (folder / "config" / "lockstep.toml").write_text("[agent]\nmodel = 'opus'", encoding="utf-8")
    assert load(str(folder / "config")).model == "opus"


@settings(max_examples=40)
@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=3), st.text(max_size=40))
def test_any_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, names: dict[str, str], end: str) -> None:
    project = tmp_path_factory.mktemp("any")
    lines = [f"{name} = {value}" for name, value in names.items()]
    (project / "lockstep.toml").write_text("\n".join(["[agent]", *lines, end]), encoding="utf-8", errors="replace")
    with contextlib.suppress(UsageError):
        assert load(str(project)).budgets == Budgets()


def test_importing_it_loads_no_framework() -> None:
    code = (
        "import sys, skills.lib.agent.configuration.lockstep_toml\n"
        "print([name for name in sys.modules if name.startswith(('langchain', 'langgraph', 'pydantic', 'yaml'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
