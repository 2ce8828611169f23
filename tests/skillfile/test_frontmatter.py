from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skills.lib.skillfile import SkillFile, SkillFileError, load_skill

# 340 bytes; each level is nine copies of the one before, which a merging loader multiplies out.
MERGE_BOMB = "\n".join(
    ["a: &a {k: v}"]
    + [
        f"{key}: &{key} {{<<: [{','.join(['*' + before] * 9)}]}}"
        for before, key in zip("abcdefgh", "bcdefghi", strict=True)
    ]
)


def skill(folder: Path, text: str | bytes) -> Path:
    file = folder / "SKILL.md"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def with_fields(fields: str) -> str:
    return f"---\nname: x\ndescription: d\n{fields}\n---\nbody\n"


def test_reads_fields_body_and_lines(tmp_path: Path) -> None:
    found = load_skill(
        skill(tmp_path, "---\nname: code-review\n# why\ndescription: >\n  Reviews\n  code.\n---\n# Title\n\ntext\n")
    )
    assert found.name == "code-review"
    assert found.description == "Reviews code.\n"
    assert found.body == "# Title\n\ntext\n"
    assert found.body_line == 8
    assert dict(found.lines) == {"name": 2, "description": 4}
    assert found.folder == tmp_path


def test_a_folder_means_its_skill_md(tmp_path: Path) -> None:
    skill(tmp_path, with_fields(""))
    assert load_skill(tmp_path).path == tmp_path / "SKILL.md"


def test_byte_order_mark_and_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    found = load_skill(skill(tmp_path, b"\xef\xbb\xbf---\r\nname: x\r\ndescription: two words\r\n---\r\nbody\r\n"))
    assert (found.name, found.description, found.body) == ("x", "two words", "body\n")


@pytest.mark.parametrize("scalar", ["no", "yes", "1", "1.5", "0x1F", "2024-01-01", "null", "~", "1:30", "1e3", ".inf"])
def test_every_scalar_is_text(tmp_path: Path, scalar: str) -> None:
    found = load_skill(skill(tmp_path, with_fields(f"metadata:\n  value: {scalar}\n  list: [{scalar}]")))
    assert found.metadata["metadata"] == {"value": scalar, "list": [scalar]}


def test_an_empty_value_is_empty_text(tmp_path: Path) -> None:
    assert load_skill(skill(tmp_path, with_fields("license:"))).metadata["license"] == ""


BROKEN: dict[str, tuple[str | bytes, int, str]] = {
    "no frontmatter": ("name: x\n", 1, "the frontmatter is missing"),
    "an empty file": ("", 1, "the frontmatter is missing"),
    "an unclosed frontmatter": ("---\nname: x\n", 1, "the frontmatter is not closed"),
    "an empty frontmatter": ("---\n---\n", 2, "the frontmatter is empty"),
    "a list": ("---\n- a\n---\n", 2, "is not a mapping"),
    "a text": ("---\njust text\n---\n", 2, "is not a mapping"),
    "no name": ("---\ndescription: d\n---\n", 1, "has no name"),
    "no description": ("---\nname: x\n---\n", 1, "has no description"),
    "a name that is a list": ("---\nname: [x]\ndescription: d\n---\n", 2, "name is not text"),
    "a duplicate key": (with_fields("name: y"), 4, "has the key 'name' twice"),
    "a duplicate key below": (with_fields("metadata:\n  a: 1\n  a: 2"), 6, "has the key 'a' twice"),
    "a duplicate key in disguise": (with_fields('"na\\x6de": y'), 4, "has the key 'name' twice"),
    "an anchor": (with_fields("license: &here MIT"), 4, "has an anchor"),
    "an anchor on a key": (with_fields("&here license: MIT"), 4, "has an anchor"),
    "an alias": (with_fields("license: *here"), 4, "has an alias"),
    "a merge key": (with_fields("metadata:\n  <<: {a: b}"), 5, "has a merge key"),
    "a tag": (with_fields("license: !!python/object/apply:os.system [id]"), 4, "has a tag"),
    "a text tag": (with_fields("license: !!str MIT"), 4, "has a tag"),
    "a bare tag": (with_fields("license: ! MIT"), 4, "has a tag"),
    "a key that is a list": (with_fields("? [a]\n: b"), 4, "has a key that is not text"),
    "nine levels": (with_fields("metadata: " + "[" * 8 + "]" * 8), 4, "is nested deeper than 8 levels"),
    "an escaped NUL": (with_fields('license: "\\0"'), 4, "holds the control character U+0000"),
    "an escaped surrogate": (with_fields('license: "\\ud800"'), 4, "holds the control character U+D800"),
    "an escaped terminal sequence": (with_fields('license: "\\e[2J"'), 4, "holds the control character U+001B"),
    "a raw NUL": (with_fields("license: a\0b"), 4, "holds the control character U+0000"),
    "a raw escape in the body": (with_fields("") + "\x1b[2J", 7, "holds the control character U+001B"),
    "a code point that does not exist": (with_fields('license: "\\UFFFFFFFF"'), 2, "is not YAML"),
    "an unclosed bracket": (with_fields("license: [a"), 5, "expected ',' or ']'"),
    "a tab as indentation": (with_fields("metadata:\n\ta: b"), 5, "indented by a tab"),
    "a colon in plain text": (with_fields("license: a: b"), 4, "where no key can stand"),
    "a directive of absurd size": ("---\n%YAML " + "9" * 5000 + ".1\n---\n", 2, "the frontmatter"),
    "bytes that are not UTF-8": (b"---\nname: \xff\n---\n", 2, "is not UTF-8 text"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_refuses(tmp_path: Path, what: str) -> None:
    text, line, cause = BROKEN[what]
    with pytest.raises(SkillFileError) as caught:
        load_skill(skill(tmp_path, text))
    assert cause in caught.value.cause
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{tmp_path / 'SKILL.md'}:{line}:")
    assert caught.value.remedy
    assert caught.value.exit_code == 5


def test_names_the_column(tmp_path: Path) -> None:
    with pytest.raises(SkillFileError) as caught:
        load_skill(skill(tmp_path, with_fields("license: &here MIT")))
    assert (caught.value.line, caught.value.column) == (4, 10)


def test_eight_levels_are_read(tmp_path: Path) -> None:
    found = load_skill(skill(tmp_path, with_fields("metadata: " + "[" * 7 + "deep" + "]" * 7)))
    assert found.metadata["metadata"] == [[[[[[["deep"]]]]]]]


HOSTILE = {
    "a merge bomb": MERGE_BOMB,
    "a billion laughs": "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
    "30,000 brackets": "a: " + "[" * 30_000,
    "30,000 braces": "a: " + "{" * 30_000,
    "30,000 dashes": "a:\n  " + "- " * 30_000,
    "30,000 question marks": "? " * 30_000,
    "one plain text of 60,000 characters": "a: [" + "x" * 60_000,
    "60,000 tabs": "a:" + "\t" * 60_000 + "[",
    "30,000 list items": "a: [" + "x," * 30_000,
    "20,000 blank lines": "a: >\n" + "\n" * 20_000 + " b\n]",
    "6,000 keys": "\n".join(f"k{number}: v" for number in range(6_000)) + "\nk1: again",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_frontmatter_is_refused_in_bounded_time(tmp_path: Path, what: str) -> None:
    begin = time.process_time()
    with pytest.raises(SkillFileError):
        load_skill(skill(tmp_path, with_fields(HOSTILE[what])))
    assert time.process_time() - begin < 5


def test_frontmatter_over_64_kb_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SkillFileError, match="longer than 64,000 bytes"):
        load_skill(skill(tmp_path, with_fields("license: " + "é" * 32_000)))


def test_a_file_over_a_megabyte_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SkillFileError, match="larger than 1,000,000 bytes"):
        load_skill(skill(tmp_path, with_fields("") + "x" * 1_000_000))


SYNTAX = (
    "name: x|description: d|- |? |: |[|]|{|}|,|&a |*a|!!int |!|<<: |'|\"|\\|#|%|@|`|>|\n|\n  |\t|\0|---|...|~|\r"
).split("|")
YAML_PIECES = st.lists(st.one_of(st.sampled_from(SYNTAX), st.text(max_size=5)), max_size=60).map("".join)


@settings(max_examples=400, deadline=2_000)
@given(text=st.one_of(YAML_PIECES, st.text(max_size=300)))
def test_any_frontmatter_loads_as_text_or_is_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = skill(tmp_path_factory.mktemp("fuzz"), ("---\n" + text + "\n---\n").encode("utf-8", "surrogatepass"))
    loaded, refused = load_or_refuse(file)
    assert loaded is None or all(only_text(value) for value in loaded.metadata.values())
    assert refused is None or (refused.cause and refused.remedy)


@settings(max_examples=200, deadline=2_000)
@given(data=st.binary(max_size=300))
def test_any_bytes_load_or_are_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    loaded, refused = load_or_refuse(skill(tmp_path_factory.mktemp("fuzz"), data))
    assert (loaded is None) != (refused is None)


def load_or_refuse(file: Path) -> tuple[SkillFile | None, SkillFileError | None]:
    try:
        return load_skill(file), None
    except SkillFileError as error:
        return None, error


def only_text(value: object) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and only_text(item) for key, item in value.items())
    if isinstance(value, list):
        return all(only_text(item) for item in value)
    return type(value) is str and "\0" not in value
