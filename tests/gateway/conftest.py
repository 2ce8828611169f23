"""A project with scripts, links that lead out of it, and a secret beside it."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from skills.lib.gateway import Gateway, consent

ECHO_PY = (
    "import json, os, sys\nprint(json.dumps([sys.argv[1:], sys.stdin.buffer.read().decode(), dict(os.environ)]))\n"
)
ECHO_JS = "console.log(JSON.stringify([process.argv.slice(2), '', {...process.env}]))\n"
ECHO_SH = 'for word in "$@"; do printf "%s\\0" "$word"; done\n'
SECRET = "the secret that nobody is shown"


@dataclass(frozen=True)
class Setup:
    """The project, the folder around it, the secret in that, and the canary that no payload may make."""

    project: Path
    around: Path
    secret: Path
    canary: Path

    @property
    def gateway(self) -> Gateway:
        return Gateway(str(self.project))

    def payload(self, text: str) -> str:
        """A payload with the paths of the canary and the secret in it."""
        return text.replace("CANARY", str(self.canary)).replace("SECRET", str(self.secret))

    def outside(self) -> dict[str, str]:
        """Everything around the project, and what no command writes in it, by path."""
        kept = (".git", "scripts", "skills/x/run.py", "skills/y", "node_modules", ".claude", ".agents")
        files = ("lockstep.policy.yaml", "lockstep.gateway.yaml")
        found = _contents([self.around], self.project)
        return found | _contents([self.project / name for name in (*kept, *files)], None)

    def trust(self, text: str) -> Gateway:
        """The gateway with this file as the project's own, to which a person has consented."""
        (self.project / "lockstep.gateway.yaml").write_text(text, encoding="utf-8")
        consent.give(str(self.project), text.encode())
        return self.gateway


def _contents(tops: list[Path], without: Path | None) -> dict[str, str]:
    found = {}
    for top in tops:
        if top.is_file():
            found[str(top)] = hashlib.sha256(top.read_bytes()).hexdigest()
        for folder, folders, names in os.walk(top):
            if without is not None and Path(folder) == without.parent:
                folders[:] = [name for name in folders if name != without.name]
            for name in [*folders, *names]:
                path = Path(folder) / name
                is_file = path.is_file() and not path.is_symlink()
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest() if is_file else "other"
    return found


def fill(project: Path) -> None:
    """Put the files that commands work on into the project, where they are missing."""
    for name in ("docs", "scripts", "skills/x", "skills/y", ".git/hooks", "build"):
        (project / name).mkdir(parents=True, exist_ok=True)
    texts = {
        "README.md": "# Readme\n",
        "docs/guide.md": "the guide\n",
        "scripts/echo.py": ECHO_PY,
        "scripts/echo.js": ECHO_JS,
        "scripts/echo.sh": ECHO_SH,
        "skills/x/run.py": ECHO_PY,
        ".git/config": "[core]\n",
    }
    for name, text in texts.items():
        if not (project / name).exists():
            (project / name).write_text(text, encoding="utf-8")
    for link, target in (("out", "../around"), ("file-out", "../around/secret.txt"), ("loop", "loop")):
        if not (project / link).is_symlink():
            (project / link).symlink_to(target)
    if not (project / "docs/back").is_symlink():
        (project / "docs/back").symlink_to("../../around")


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setup:
    """A project whose neighbours nothing may read or change; the working directory is the project."""
    project, around = tmp_path / "project", tmp_path / "around"
    around.mkdir()
    (around / "secret.txt").write_text(SECRET, encoding="utf-8")
    (tmp_path / "secret.txt").write_text(SECRET, encoding="utf-8")
    fill(project)
    monkeypatch.chdir(project)
    return Setup(project, tmp_path, around / "secret.txt", around / "canary")


def payloads(*kinds: str) -> list[str]:
    """The payloads of these kinds, or all of them."""
    text = (Path(__file__).parent / "payloads.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return [payload for kind, payload in rows if not kinds or kind in kinds]
