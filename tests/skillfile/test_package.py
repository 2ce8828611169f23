from __future__ import annotations

from skills.lib import skillfile


def test_exported_members() -> None:
    assert skillfile.__all__ == [
        "ShellCommand",
        "SkillFile",
        "SkillFileError",
        "SkillFolder",
        "SpecProblem",
        "check_specification",
        "commands_in",
        "discover",
        "is_entry_script",
        "load_skill",
        "script_named",
    ]
    assert all(hasattr(skillfile, name) for name in skillfile.__all__)
