"""Reads what reviewers report: items, statements and answers, and checks each of them by itself."""

from __future__ import annotations

from skills.lib.field_checks import is_reason
from skills.lib.model.texts import ANSWER_SHAPE, ITEM_SHAPE, JUDGED_SHAPE, faults_text
from skills.lib.model.types import ItemStatus, Severity, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

PARTS = ("id", "scope", "check", "severity", "status", "finding", "place")
NONE = "none:"
_ANSWER_PARTS = ("id", "status", "place", "severity", "finding")


def read_items(value: Any, known: Sequence[Mapping[str, str]] = ()) -> list[dict[str, str]]:
    """The reported review items in their stored form; ValueError says which item is wrong and how.

    An item without an id gets one. For ``known`` items, which are verified again, scope, check and severity may be left
    out.
    """
    shape = JUDGED_SHAPE if known else ITEM_SHAPE
    if not isinstance(value, list) or not value:
        raise ValueError(f"give a JSON array of at least one item, each {shape}")
    items: dict[str, dict[str, str]] = {}
    faults: list[str] = []
    for at, entry in enumerate(value, 1):
        if isinstance(entry, dict) and not entry.get("id") and not known:
            entry = {**entry, "id": f"R{at}"}
        item, wrong = _read_item(_completed(entry, known))
        if item.get("id") and item["id"] in items:
            wrong.append(f"the id {item['id']} is given twice")
        items[item.get("id", "")] = item
        faults += [f"item {at}: {fault}" for fault in wrong]
    if faults:
        raise ValueError(f"{faults_text(faults)}. An item is {shape}")
    return list(items.values())


def _completed(entry: Any, known: Sequence[Mapping[str, str]]) -> Any:
    if not known or not isinstance(entry, dict):
        return entry
    first = next((item for item in known if item["id"] == entry.get("id")), {})
    return {**{name: first[name] for name in ("scope", "check", "severity") if name in first}, **entry}


def _read_item(entry: Any) -> tuple[dict[str, str], list[str]]:
    """An item in its stored form, and what is wrong with it."""
    item, faults = _texts(entry, PARTS)
    if not item.get("place"):
        item.pop("place", None)
    if faults:
        return item, faults
    plain = item["id"].replace("-", "").replace("_", "").replace(".", "").replace(":", "")
    if not (plain.isascii() and plain.isalnum() and item["id"][0].isalnum() and len(item["id"]) <= 64):
        faults.append(f"the id {item['id']!r:.60} is not one (letters, digits, - _ . : and at most 64; no sign first)")
    if not is_word(Severity, item["severity"]):
        faults.append(f"severity {item['severity']!r:.40} is not one of MUST, SHOULD, COULD")
    if not item["check"]:
        faults.append("check is empty; say what was checked")
    return item, [*faults, *_status_faults(item)]


def _texts(entry: Any, parts: Sequence[str], by_target: bool = False) -> tuple[dict[str, Any], list[str]]:
    """The parts of an entry without blanks around them, and what is wrong with it.

    With ``by_target`` its place may be an object: the place of each target.
    """
    if not isinstance(entry, dict):
        return {}, [f"{entry!r:.60} is not an object"]
    unknown = sorted(map(str, set(entry) - set(parts)))
    faults = [f"{', '.join(unknown)} is not part of it"] if unknown else []
    found: dict[str, Any] = dict.fromkeys(parts, "")
    for name in parts:
        given = entry.get(name, "")
        if isinstance(given, str):
            found[name] = given.strip()
        elif by_target and name == "place" and isinstance(given, dict) and given:
            if not all(isinstance(text, str) and text.strip() for text in given.values()):
                faults.append("each target under place has its place as a text")
            found[name] = {str(target).strip(): str(text).strip() for target, text in given.items()}
        else:
            faults.append(f"{name} is not a text")
    return found, faults


def _status_faults(judged: Mapping[str, Any]) -> list[str]:
    if not is_word(ItemStatus, judged["status"]):
        return [f"status {judged['status']!r:.40} is not one of PASS, FAIL, TODO"]
    if judged["status"] != ItemStatus.PASS and not judged["finding"]:
        return ["finding is empty; say what is wrong, or what is still to do"]
    return []


def read_statements(value: Any) -> list[str] | str:
    """The statements, each "scope | statement", or the text "none: reason"; ValueError says what is wrong."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(entry, str) for entry in given):
        raise ValueError('give a JSON array of texts, each "scope | statement", or the text "none: reason"')
    if len(given) == 1 and given[0].strip().lower().startswith(NONE):
        reason = given[0].strip()[len(NONE) :].strip()
        if not is_reason(reason):
            raise ValueError('"none:" takes a reason of more than a word: what was looked at, and why nothing follows')
        return f"{NONE} {reason}"
    if not given:
        raise ValueError('no statement is no review; give "none: reason" if nothing here can be stated')
    for at, entry in enumerate(given, 1):
        scope, bar, statement = (part.strip() for part in entry.partition("|"))
        if not bar or not scope or not is_reason(statement):
            raise ValueError(
                f'statement {at}, {entry[:60]!r}: write "scope | statement", a sentence that can be checked'
            )
    return [" | ".join(part.strip() for part in entry.split("|", 1)) for entry in given]


def read_answers(value: Any) -> list[dict[str, Any]]:
    """The answers in their stored form, each checked by itself; ValueError says which is wrong and how."""
    if not isinstance(value, list):
        raise ValueError(f"give a JSON array of answers, each {ANSWER_SHAPE}")
    answers, faults = [], []
    for at, entry in enumerate(value, 1):
        answer, wrong = _read_answer(entry)
        answers.append(answer)
        name = f"answer {at} ({answer['id']})" if answer.get("id") else f"answer {at}"
        faults += [f"{name}: {fault}" for fault in wrong]
    if faults:
        raise ValueError(f"{faults_text(faults)}. An answer is {ANSWER_SHAPE}")
    return answers


def _read_answer(entry: Any) -> tuple[dict[str, Any], list[str]]:
    """An answer in its stored form, and what is wrong with it."""
    answer, faults = _texts(entry, _ANSWER_PARTS, by_target=True)
    if faults:
        return answer, faults
    if not answer["id"]:
        faults.append("id is missing; say which statement, check or item it answers")
    if answer["severity"] and not is_word(Severity, answer["severity"]):
        faults.append(f"severity {answer['severity']!r:.40} is not one of MUST, SHOULD, COULD")
    faults += _status_faults(answer)
    if answer["status"] in (ItemStatus.PASS, ItemStatus.FAIL) and not answer["place"]:
        faults.append("place is empty; say where you looked, as path:line")
    return answer, faults
