from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.skillfile import commands_in, load_skill, script_named


def commands(folder: Path, body: str) -> list[tuple[int, str]]:
    (folder / "SKILL.md").write_text("---\nname: x\ndescription: d\n---\n" + body)
    return [(line, command) for line, command in commands_in(load_skill(folder))]


def test_finds_commands_in_shell_blocks_with_their_lines(tmp_path: Path) -> None:
    body = """
Run at once:

```bash
# the first step
$ python3 scripts/x.py --step 1
git status
python3 "$DIR/scripts/sub/y.py" \\
    --step 1 \\
    --mode quick
```

Not a command: `python3 scripts/x.py`, nor python3 scripts/x.py.

```python
run("scripts/x.py")
```

~~~
python3 <folder>/scripts/z.py
~~~
"""
    assert commands(tmp_path, body) == [
        (10, "python3 scripts/x.py --step 1"),
        (12, 'python3 "$DIR/scripts/sub/y.py" --step 1 --mode quick'),
        (24, "python3 <folder>/scripts/z.py"),
    ]


def test_a_block_inside_a_list_and_one_that_is_never_closed_count(tmp_path: Path) -> None:
    body = "- first\n\n  ```sh\n  python scripts/a.py\n  ```\n\n````sh\n```\npython scripts/b.py \\\n"
    assert commands(tmp_path, body) == [(8, "python scripts/a.py"), (13, "python scripts/b.py")]


def test_a_dangling_continuation_ends_with_its_block(tmp_path: Path) -> None:
    body = "```sh\npython scripts/a.py \\\n```\n```sh\npython scripts/b.py\n```\n"
    assert commands(tmp_path, body) == [(6, "python scripts/a.py"), (9, "python scripts/b.py")]


@pytest.mark.parametrize(
    "command, script",
    [
        ("python3 scripts/a.py --step 1", "scripts/a.py"),
        ("python3 '/skills/my skill/scripts/qr/a.py'", "scripts/qr/a.py"),
        ("python3 ${SKILL}/scripts/a.py", "scripts/a.py"),
        ("SCRIPT=scripts/a.py", "scripts/a.py"),
        ("python3 myscripts/a.py", None),
        ("python3 scripts/a.pyc", None),
        ("make scripts", None),
    ],
)
def test_names_the_script_of_a_command(command: str, script: str | None) -> None:
    assert script_named(command) == script
