"""Secrets and personal data are found and replaced, and nothing else is, in time linear in the text."""

from __future__ import annotations

import base64
import json
import random
import subprocess
import time
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib.agent.redaction import Redactor, has_mark
from tests.agent.watch.planted import PERSONAL, SECRETS

ROOT = Path(__file__).parents[3]
REDACTOR = Redactor(environment={})


@pytest.mark.req("A-04.4")
@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_replaced_by_a_mark_of_its_kind_wherever_it_stands(kind: str) -> None:
    text, secret = SECRETS[kind]
    for around in ("{}", "before\n{}\nafter", '{{"line": "one\\n{}"}}', "  12\t{}\n", "[{}]"):
        redacted = REDACTOR.text(around.format(text))
        assert secret not in redacted
        assert f"[redacted: {kind}]" in redacted
    assert kind in REDACTOR.secrets(text)


def test_secrets_of_more_than_thirty_kinds_are_known() -> None:
    assert len(SECRETS) > 50


@pytest.mark.req("A-04.4")
@pytest.mark.parametrize("kind", PERSONAL)
def test_personal_data_are_replaced_by_a_mark_of_their_kind(kind: str) -> None:
    for one in PERSONAL[kind]:
        for around in ("{}", "it is {}.", "a\t{}\tb", '"{}"'):
            redacted = REDACTOR.text(around.format(one))
            assert one not in redacted
            assert f"[redacted: {kind}]" in redacted
    assert REDACTOR.secrets(" ".join(PERSONAL[kind])) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "GB82 WEST 1234 5698 7654 33",
        "4111 1111 1111 1112",
        "000-45-6789",
        "12345678A",
        "529.982.247-26",
        "811218-9877",
        "131052-308U",
        "110105194912310021",
        "2341 2341 2347",
        "PESEL: 44051401358",
        "Steuer-ID 86095742718",
        "BSN 111222334",
    ],
)
def test_a_number_with_a_wrong_checksum_is_nobodys(wrong: str) -> None:
    assert REDACTOR.text(wrong) == wrong


@pytest.mark.parametrize(
    "text",
    [
        "commit 898d13b8c9a5d2f5e6b7a8c9d0e1f2a3b4c5d6e7",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "langchain 1.4.7, langgraph==1.2.22, python 3.11.9, v2026.10.18",
        "2026-01-26T10:11:12.123456+00:00 took 1764143412.123456 s, pid 123456",
        "token = get_token()",
        "self.token = token",
        "def login(token: str, password: str | None = None) -> Token:",
        'token = os.environ["TOKEN"]',
        "password = getpass.getpass()",
        "api_key=settings.api_key, secret=secret2",
        "max_tokens=1000, token_count: 12345678, tokens = 55a55a55",
        'password = "<your password>"; token = "${TOKEN}"; secret: "{{ secret }}"',
        "PASSWORD=$DB_PASSWORD",
        "the token of the run is written by the session, and a secret is kept",
        "git clone git@github.com:org/repo.git",
        "lodash@4.17.21 actions/checkout@v4 https://example.com/@scope/name",
        "http://127.0.0.1:8000/v1 and https://user@host/path",
        "@pytest.mark.parametrize('a@b', [1])",
        'HEAD + "@pytest.mark.slow\\n@pytest.mark.parametrize(1)"',
        "-----BEGIN PRIVATE KEY----- is how such a file begins; nothing of it stands here",
        "1234 5678 9012 3456 7890",
        "+1234567890 -1234567890",
        "0.4111111111111111",
        "Authorization: Bearer TOKEN",
        "AKIA, ghp_ and sk- are prefixes; eyJ too",
    ],
)
def test_what_only_looks_alike_stays(text: str) -> None:
    assert REDACTOR.text(text) == text
    assert REDACTOR.secrets(text) == []


def test_uuids_hashes_and_images_stay() -> None:
    chance = random.Random(13)
    image = base64.b64encode(chance.randbytes(300_000)).decode()
    hashes = "\n".join(chance.randbytes(20).hex() for _ in range(2_000))
    ids = "\n".join(str(uuid.UUID(int=chance.getrandbits(128), version=4)) for _ in range(2_000))
    for text in (image, f"data:image/png;base64,{image}", hashes, ids):
        assert REDACTOR.text(text) == text


@pytest.mark.req("A-04.6")
def test_the_values_of_sensitive_fields_are_replaced_at_every_depth() -> None:
    value = {
        "user": "jane",
        "dbPassword": "plain",
        "API-KEY": "word",
        "rows": [{"token": "abc", "tokens": 7}, {"secret": {"inner": ["a", 4, None, True]}}],
        "max_tokens": 100,
        "password": "",
    }
    assert REDACTOR.value(value) == {
        "user": "jane",
        "dbPassword": "[redacted: secret]",
        "API-KEY": "[redacted: secret]",
        "rows": [
            {"token": "[redacted: secret]", "tokens": 7},
            {"secret": {"inner": ["[redacted: secret]", "[redacted: secret]", None, True]}},
        ],
        "max_tokens": 100,
        "password": "",
    }
    assert "plain" not in REDACTOR.text(json.dumps(value, indent=1))


@pytest.mark.req("A-04.6")
def test_the_operators_own_fields_are_sensitive_too() -> None:
    redactor = Redactor(["salary", "Date-Of-Birth"], {})
    assert redactor.value({"salary": 5, "date_of_birth": "1 May", "name": "x"}) == {
        "salary": "[redacted: secret]",
        "date_of_birth": "[redacted: secret]",
        "name": "x",
    }
    assert redactor.text('{"salary": "much", "dateOfBirth": "1 May"}') == (
        '{"salary": "[redacted: secret]", "dateOfBirth": "[redacted: secret]"}'
    )


def test_the_secrets_of_the_environment_are_known_by_their_values() -> None:
    redactor = Redactor(
        environment={"MY_API_KEY": "0-plain-words-0", "SHORT_TOKEN": "a1", "HOME": "/home/of-somebody-1"}
    )
    assert redactor.text("it is 0-plain-words-0, a1, /home/of-somebody-1") == (
        "it is [redacted: environment], a1, /home/of-somebody-1"
    )


def test_a_value_without_secrets_is_the_same_object() -> None:
    value = {"a": ["b", {"c": 1}]}
    assert REDACTOR.value(value) is value


def test_what_a_provider_sealed_is_left_alone() -> None:
    sealed = {"type": "thinking", "signature": "ghp_" + "a1" * 20}
    assert REDACTOR.value(sealed) is sealed


@given(
    st.lists(st.sampled_from([text for text, _ in SECRETS.values()]) | st.text(max_size=30), max_size=8).map(" ".join)
)
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once
    assert has_mark(once) == (once != text)


def test_a_request_is_asked_for_secrets_and_a_mark_in_it_is_none() -> None:
    assert REDACTOR.secrets("what does [redacted: github-token] mean?") == []
    assert REDACTOR.secrets(f"use {SECRETS['github-token'][1]} and password: hunter2") == ["github-token", "secret"]


_REPEATED = 'a|eyJ|a@|a@b.co |token=|password: |"token": "|://a:|+1 |bearer |cookie: a=|M|?sig=|_-|Q~|aB|1234 |AKIA'


@pytest.mark.slow
@pytest.mark.parametrize("part", [*_REPEATED.split("|"), "-----BEGIN PRIVATE KEY-----\n"])
def test_the_time_is_linear_in_the_text_whatever_it_repeats(part: str) -> None:
    def seconds(size: int) -> float:
        text = part * (size // len(part))
        begin = time.process_time()
        REDACTOR.text(text)
        return time.process_time() - begin

    seconds(10_000)
    small, large = seconds(100_000), seconds(1_000_000)
    assert large < max(25 * small, 2)


@pytest.mark.slow
def test_in_this_repository_only_addresses_and_the_passwords_of_tests_are_taken_for_any() -> None:
    found: dict[str, set[str]] = {}
    for path in (ROOT / "skills").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        redacted = REDACTOR.text(text)
        if redacted != text:
            found[str(path.relative_to(ROOT))] = set(redacted.splitlines()) - set(text.splitlines())
    assert found == {}
    files = subprocess.run(["git", "ls-files", "docs", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    texts = [(ROOT / name).read_text(encoding="utf-8", errors="replace") for name in files.stdout.splitlines()]
    changed = [line for text in texts for line in {*REDACTOR.text(text).splitlines()} - {*text.splitlines()}]
    assert [line for line in changed if "[redacted: email]" not in line] == []
