"""A skill with a workflow.yaml, made in a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from skills.lib.commands.console.app import lockstep
from skills.lib.graphfile.compiling import GraphFile, compile_file
from skills.lib.graphfile.reader import GraphFileError

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write ``workflow.yaml`` and ``workflow.md`` of the skill tea-time, and return the first."""
    monkeypatch.chdir(tmp_path)

    def written(yaml: str | bytes, texts: str = "") -> Path:
        folder = tmp_path / "skills" / "tea-time"
        (folder / "scripts").mkdir(parents=True, exist_ok=True)
        file = folder / "workflow.yaml"
        file.write_bytes(yaml if isinstance(yaml, bytes) else yaml.encode())
        if texts:
            file.with_suffix(".md").write_text(texts, encoding="utf-8")
        return file

    return written


@pytest.fixture
def compiled(write: Write) -> Callable[..., GraphFile]:
    """Compile such files."""
    return lambda yaml, texts="": compile_file(str(write(yaml, texts)))


@pytest.fixture
def problems(write: Write) -> Callable[..., list[str]]:
    """What is wrong with such files: file, line and words, with what to try."""

    def told(yaml: str | bytes, texts: str = "") -> list[str]:
        file = str(write(yaml, texts))
        with pytest.raises(GraphFileError) as raised:
            compile_file(file)
        return [
            f"{os.path.basename(one.file)}:{one.line}: {one.what}" + (f" -> {one.remedy}" if one.remedy else "")
            for one in raised.value.problems
        ]

    return told


@pytest.fixture
def cli() -> Callable[..., tuple[int, str]]:
    """Call ``lockstep`` in the working directory: its exit code, and what it printed."""

    def call(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(lockstep, list(words), prog_name="lockstep")
        return result.exit_code, result.output

    return call
