"""Skills as resources: every file with its digest and size, and nothing that is not the skill's."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp.types import (
    BlobResourceContents,
    PaginatedRequestParams,
    ReadResourceResult,
    Request,
    RequestParams,
    Result,
    TextResourceContents,
)
from pydantic import ConfigDict

from tests.hosts.mcp.talking import Talk, add_skill, by_stdio, in_process, talk

pytestmark = pytest.mark.req("H-06")

PIXEL = b"\x89PNG\r\n\x1a\n\xff\xfe"
WORDS = "\ufeffWords\r\nwith odd ends and no newline"


class Loose(Result):
    """Whatever a method of the extension returns."""

    model_config = ConfigDict(extra="allow")


async def ask(to: Talk, method: str, **params: Any) -> dict[str, Any]:
    kind: type[RequestParams] = type("Params", (PaginatedRequestParams,), {"model_config": ConfigDict(extra="allow")})
    request: Request[Any, Any] = Request[Any, Any](method=method, params=kind.model_validate(params))
    found = await to.client.session.send_request(request, Loose)
    return found.model_dump(by_alias=True, mode="json")


@pytest.fixture
def skill(project: Path) -> Path:
    """A skill with files of all kinds, wanted and unwanted."""
    folder = add_skill(project, "plain")
    files = {
        "resources/a b é.md": WORDS.encode(),
        "resources/pixel.png": PIXEL,
        "resources/.secret": b"hidden",
        ".env": b"TOKEN=1",
        ".git/config": b"hidden",
        "scripts/__pycache__/plain.cpython-311.pyc": b"cached",
        "resources/old.pyc": b"cached",
    }
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (project / "outside.md").write_text("not the skill's")
    (project / "outside").mkdir()
    (project / "outside" / "deep.md").write_text("not the skill's")
    (folder / "link-out.md").symlink_to(project / "outside.md")
    (folder / "folder-out").symlink_to(project / "outside")
    (folder / "link-hidden.md").symlink_to(folder / ".env")
    (folder / "link-in.md").symlink_to(folder / "SKILL.md")
    os.mkfifo(folder / "pipe.md")
    return folder


SERVED = [
    "skill://plain/SKILL.md",
    "skill://plain/link-in.md",
    "skill://plain/resources/a%20b%20%C3%A9.md",
    "skill://plain/resources/pixel.png",
    "skill://plain/scripts/plain.py",
    "skill://plain/scripts/plain_workflow.py",
]


def test_lists_every_file_with_digest_and_size(project: Path, skill: Path) -> None:
    listed = talk(in_process, project, lambda to: to.client.list_resources()).resources
    assert [resource.uri for resource in listed] == SERVED
    main, pixel = listed[0], listed[3]
    assert (main.name, main.mime_type, main.description) == ("plain", "text/markdown", "Shows what plain shows.")
    assert (pixel.name, pixel.mime_type, pixel.size) == ("resources/pixel.png", "image/png", 10)
    digest = f"sha256:{sha256(PIXEL).hexdigest()}"
    assert pixel.meta == {"io.modelcontextprotocol.skills/digest": digest, "io.modelcontextprotocol.skills/size": 10}


def test_reads_each_file_byte_for_byte(project: Path, skill: Path) -> None:
    async def work(to: Talk) -> list[bytes]:
        return [_bytes(await to.client.read_resource(uri)) for uri in SERVED]

    assert talk(by_stdio, project, work) == [
        (skill / "SKILL.md").read_bytes(),
        (skill / "SKILL.md").read_bytes(),
        WORDS.encode(),
        PIXEL,
        (skill / "scripts" / "plain.py").read_bytes(),
        (skill / "scripts" / "plain_workflow.py").read_bytes(),
    ]


@pytest.mark.parametrize(
    "uri",
    [
        "skill://plain/../../outside.md",
        "skill://plain/resources/../SKILL.md",
        "skill://plain/%2e%2e/%2e%2e/outside.md",
        "skill://plain/..%2f..%2foutside.md",
        "skill://plain//etc/passwd",
        "skill:///etc/passwd",
        "skill://../outside.md",
        "skill://plain/.env",
        "skill://plain/.git/config",
        "skill://plain/resources/.secret",
        "skill://plain/link-out.md",
        "skill://plain/link-hidden.md",
        "skill://plain/folder-out/deep.md",
        "skill://plain/pipe.md",
        "skill://plain/scripts/__pycache__/plain.cpython-311.pyc",
        "skill://plain/SKILL.md\0",
        "skill://plain/skill.md",
        "skill://plain",
        "skill://plain/resources",
        "SKILL://plain/SKILL.md",
        "skill://nobody/SKILL.md",
        "file:///etc/passwd",
        "",
    ],
)
def test_no_uri_leads_out_of_a_skill(project: Path, skill: Path, uri: str) -> None:
    async def work(to: Talk) -> MCPError:
        with pytest.raises(MCPError) as refused:
            await to.client.read_resource(uri)
        return refused.value

    assert talk(in_process, project, work).code == -32602


def test_the_extension_gives_a_whole_manifest(project: Path, skill: Path) -> None:
    async def work(to: Talk) -> tuple[dict[str, Any], dict[str, Any]]:
        extensions = to.client.server_capabilities.extensions
        assert extensions == {"io.modelcontextprotocol/skills": {"directoryRead": True}}
        return await ask(to, "skills/list"), await ask(to, "skills/get", uri="skill://plain/SKILL.md")

    listed, got = talk(by_stdio, project, work)
    [entry] = [entry for entry in listed["skills"] if entry["uri"] == "skill://plain/SKILL.md"]
    assert got["skill"] == entry
    assert (listed["ttlMs"], listed["cacheScope"]) == (got["ttlMs"], got["cacheScope"]) == (0, "private")
    assert entry["frontmatter"] == {"name": "plain", "description": "Shows what plain shows."}
    assert [file["uri"] for file in entry["resources"]] == SERVED
    assert entry["resources"][3] == {
        "uri": "skill://plain/resources/pixel.png",
        "digest": f"sha256:{sha256(PIXEL).hexdigest()}",
        "size": 10,
    }


def test_folders_are_read_one_level_at_a_time(project: Path, skill: Path) -> None:
    async def work(to: Talk) -> list[list[tuple[str, str]]]:
        found = []
        for uri in ("skill://plain", "skill://plain/resources"):
            children = (await ask(to, "resources/directory/read", uri=uri))["resources"]
            found.append([(child["uri"], child["mimeType"]) for child in children])
        return found

    assert talk(in_process, project, work) == [
        [
            ("skill://plain/SKILL.md", "text/markdown"),
            ("skill://plain/link-in.md", "text/markdown"),
            ("skill://plain/resources", "inode/directory"),
            ("skill://plain/scripts", "inode/directory"),
        ],
        [
            ("skill://plain/resources/a%20b%20%C3%A9.md", "text/markdown"),
            ("skill://plain/resources/pixel.png", "image/png"),
        ],
    ]


@pytest.mark.parametrize(
    "method, uri",
    [
        ("skills/get", "skill://nobody/SKILL.md"),
        ("skills/get", "skill://plain/resources/pixel.png"),
        ("skills/get", "skill://plain"),
        ("resources/directory/read", "skill://plain/SKILL.md"),
        ("resources/directory/read", "skill://plain/folder-out"),
        ("resources/directory/read", "skill://plain/"),
        ("resources/directory/read", "skill://plain/.."),
        ("resources/directory/read", "skill://"),
        ("resources/directory/read", "skill://plai"),
    ],
)
def test_the_extension_refuses_what_is_not_served(project: Path, skill: Path, method: str, uri: str) -> None:
    async def work(to: Talk) -> MCPError:
        with pytest.raises(MCPError) as refused:
            await ask(to, method, uri=uri)
        return refused.value

    assert talk(in_process, project, work).code == -32602


def test_a_changed_and_a_new_skill_are_seen(project: Path, skill: Path) -> None:
    async def work(to: Talk) -> tuple[list[str], bytes, bytes]:
        await to.client.list_resources()
        before = _bytes(await to.client.read_resource("skill://plain/link-in.md"))
        text = "---\nname: plain\ndescription: New.\n---\n\nNew.\n"
        (skill / "SKILL.md").write_text(text, encoding="utf-8")
        after = _bytes(await to.client.read_resource("skill://plain/link-in.md", cache_mode="bypass"))
        add_skill(project, "tour")
        await to.client.read_resource("skill://tour/SKILL.md")
        return [entry["uri"] for entry in (await ask(to, "skills/list"))["skills"]], before, after

    uris, before, after = talk(in_process, project, work)
    assert uris == ["skill://plain/SKILL.md", "skill://tour/SKILL.md"]
    assert (before.endswith(b"Run it.\n"), after.endswith(b"New.\n")) == (True, True)


FAULTS: dict[str, Callable[[Path], object]] = {
    "the frontmatter is missing": lambda folder: (folder / "SKILL.md").write_text("no frontmatter"),
    "the name is 'other', the folder is 'plain'": lambda folder: (folder / "SKILL.md").write_text(
        "---\nname: other\ndescription: Other.\n---\n\nText.\n"
    ),
}


@pytest.mark.parametrize("told", FAULTS)
def test_a_skill_that_is_none_is_not_served_and_said_to_be_broken(project: Path, skill: Path, told: str) -> None:
    FAULTS[told](skill)
    add_skill(project, "tour")

    async def work(to: Talk) -> tuple[set[str], dict[str, Any], str]:
        listed = await to.client.list_resources()
        answer = await to.call("list_skills")
        return {one.uri.split("/")[2] for one in listed.resources}, answer.data["skills"][0], answer.text

    names, broken, text = talk(in_process, project, work)
    assert names == {"tour"}
    assert told in broken["problem"]
    assert "plain" in text


def test_a_skill_larger_than_hosts_take_is_left_out_of_lists(project: Path, skill: Path) -> None:
    for at in range(520):
        (skill / "resources" / f"{at}.txt").write_text(str(at))
    add_skill(project, "tour")

    async def work(to: Talk) -> tuple[set[str], list[str]]:
        listed = await to.client.list_resources()
        entries = (await ask(to, "skills/list"))["skills"]
        return {one.uri.split("/")[2] for one in listed.resources}, [entry["uri"] for entry in entries]

    assert talk(in_process, project, work) == ({"tour"}, ["skill://tour/SKILL.md"])


def _bytes(result: Any) -> bytes:
    assert isinstance(result, ReadResourceResult)
    [content] = result.contents
    if isinstance(content, BlobResourceContents):
        return base64.b64decode(content.blob)
    assert isinstance(content, TextResourceContents)
    return content.text.encode()
