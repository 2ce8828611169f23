"""Folders that are written whole or not at all, whatever comes in between."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skills.lib import files


def test_a_file_is_written_through_no_link_that_was_put_beside_it(tmp_path: Path) -> None:
    victim, target = tmp_path / "victim", tmp_path / "folder" / "refused-1.json"
    victim.write_text("precious")
    target.parent.mkdir()
    (target.parent / f"{target.name}.{os.getpid()}.part").symlink_to(victim)
    target.symlink_to(victim)
    files.write(str(target), b"new")
    assert (target.read_bytes(), target.is_symlink(), victim.read_text()) == (b"new", False, "precious")
    assert len(os.listdir(target.parent)) == 2


@pytest.mark.parametrize("error", [OSError(5, "no"), KeyboardInterrupt()], ids=["fault", "interrupt"])
@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", [1, 2])
def test_a_folder_that_is_replaced_is_never_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, done: bool, error: BaseException
) -> None:
    folder, rename, calls = tmp_path / "x", os.rename, []
    files.write_folder(str(folder), {"a": b"old"})

    def fails(source: str, target: str) -> None:
        calls.append(target)
        if len(calls) != at:
            rename(source, target)
            return
        if done:
            rename(source, target)
        raise error

    monkeypatch.setattr(os, "rename", fails)
    with pytest.raises(type(error)):
        files.write_folder(str(folder), {"a": b"new"}, replace=True)
    assert (folder / "a").read_bytes() == (b"new" if (at, done) == (2, True) else b"old")
    assert os.listdir(tmp_path) == ["x"]
