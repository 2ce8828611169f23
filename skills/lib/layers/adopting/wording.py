"""What words in headings and sentences say: a procedure, an example, a rule, a question for a person."""

from __future__ import annotations

import re


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


_PROCEDURE = _words(
    *("process", "procedure", "workflow", "work flow", "steps?", "step[- ]by[- ]step", "instructions?", "how to"),
    *("how it works", "methods?", "methodology", "protocol", "approach", "sequence", "flow", "playbook", "runbook"),
    *("checklist", "pipeline", "cycle", "the loop", "phases", "what to do", "execution", "implementation", "usage"),
    *("getting started", "quick ?start", "algorithm", "routine", "your task", "tasks", "recipe", "order of work"),
)
_NO_PROCEDURE = _words(
    *("anti-?patterns?", "mistakes?", "pitfalls?", "principles?", "rules?", "tips?", "references?", "resources?"),
    *("troubleshooting", "faq", "templates?", "formats?", "when (?:not )?to (?:use|apply|invoke)", "when not", "why"),
    *("background", "rationali[sz]ations?", "red flags", "requirements", "criteria", "prerequisites", "features?"),
    *("best practices", "guidelines", "glossary", "related", "limitations?", "further reading", "see also"),
    *("appendix", "architecture", "structure", "components?", "dependenc(?:y|ies)", "decision", "choosing", "which"),
    *("benefits", "types", "options", "philosophy", "notes?", "caveats", "heuristics", "symptoms", "questions"),
)
_EXAMPLE = _words("examples?", "samples?", "for instance", "e\\.g", "bad", "good", "wrong", "sample output", "demo")
_FOLLOW = _words(
    *(
        "follow",
        "steps?",
        "in (?:this |the following )?order(?! (?:of|to))",
        "do the following",
        "procedure",
        "process",
        "sequence",
    ),
    *("workflow", "when (?:invoked|asked|called|triggered|activated|used)", "proceed", "as follows"),
)
_NEVER = re.compile(
    r"\W{0,4}(?:never|do not|don't|don\u2019t|(?:you )?must (?:not|never)|no (?:exceptions?|skipping))\b", re.IGNORECASE
)
_NEVER_WITHIN = re.compile(
    r"\b(?:must not|must never|do not ever|never ever|is forbidden|are forbidden)\b", re.IGNORECASE
)
_NEVER_LEAD = re.compile(
    r"\W{0,4}(?:never|do not|don't|don\u2019t|must not|forbidden|prohibited)(?: do)?\W{0,4}", re.IGNORECASE
)
_PEOPLE = (
    r"(?:users?|humans?|partner|person|people|stakeholders?|customer|client|team ?lead|maintainers?|manager|author|lead"
    r"|boss|owner|operator|colleague|teammate|director|editor|patient|requester)"
)
_OTHERS = _words(
    "yourself",
    "sub-?agents?",
    "agents?",
    "reviewer",
    "model",
    "bot",
    "ci",
    "llm",
    "codex",
    "gemini",
    "script",
    "tests?",
)
_PARTNER = re.compile(r"\b(?:your |the )?human partner\b", re.IGNORECASE)
_ASK = re.compile(r"\b(?:ask|asking|clarify(?:ing)? (?:with|questions)|consult|interview)\b", re.IGNORECASE)
_ASK_WHOM = re.compile(r"\W*ask (?:the|your|them|whoever|who|someone|somebody)\b", re.IGNORECASE)
_APPROVAL = re.compile(r"\b(?:approval|sign[- ]?off|go-ahead|green ?light)\b|\bapproved\?", re.IGNORECASE)
_APPROVE = re.compile(
    r"\b(?:approv(?:e|es|ed|ing)|confirm(?:s|ed|ation)?|permission|consent|accept(?:s|ed|ance)?)\b", re.IGNORECASE
)
_OF_PEOPLE = re.compile(rf"\b{_PEOPLE}\b", re.IGNORECASE)
_CLAUSE = re.compile(r"(?<=\w)[:;.!?](?=\s|$)|\s[\u2014\u2013-]+\s")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_TITLE_LIMIT = 70
_VERBS = frozenset(
    """accept activate add address adjust agree align analyse analyze announce answer apply approve archive arrange ask
    assemble assess assign attach audit back backup begin bind book branch break bring build calculate call capture
    change check choose clarify classify clean clear clone close collect commit communicate compare compile complete
    compose compute conclude configure confirm connect consider consolidate convert copy count create cut debug decide
    define delete deliver deploy describe design detect determine develop diagnose discover discuss dispatch do document
    download draft draw edit enable ensure enter establish estimate evaluate examine execute explain explore export
    extract fetch file fill filter finalise finalize find finish fix flag follow form format formulate freeze gather
    generate get give go group hand handle identify implement import improve initialise initialize inspect install
    integrate interview investigate isolate iterate keep label launch learn let list load locate log look make map mark
    measure merge migrate monitor move name note notify observe open order organise organize outline pack parse pick
    place plan polish post practise prepare present preview print prioritise prioritize probe process produce profile
    propose provide publish pull push put query quote raise rank read rebase receive record reduce refactor refine
    register reject release remove rename render repeat replace reply report reproduce request research reset resolve
    respond restart restore retest return review revise rewrite rinse roll rotate run save scaffold scan schedule score
    search select send separate set setup sharpen show shut sign simplify sketch sort spawn specify split stage start
    state stop store structure study submit summarise summarize survey switch sync synthesise synthesize tag take talk
    tell test tidy trace track transform translate triage trigger try turn understand undo update upgrade upload use
    validate verify visit wait walk warn wash watch weigh work wrap write""".split()
)
_FOR_EACH = _words("more", "remain(?:s|ing)?", "left", "another", "next", "unfinished")


def goes_over_all(label: str) -> bool:
    """True if a choice asks whether there is more of something to do, and not whether something is good enough."""
    return bool(_FOR_EACH.search(label))


def says_procedure(heading: str) -> bool:
    """True if a heading is that of a procedure."""
    return bool(_PROCEDURE.search(heading)) and not _NO_PROCEDURE.search(heading) and not says_example(heading)


def says_no_procedure(heading: str) -> bool:
    """True if what stands under a heading is no procedure."""
    return bool(_NO_PROCEDURE.search(heading)) or says_example(heading)


def says_example(text: str) -> bool:
    """True if a heading, or the end of a short paragraph, says that an example follows."""
    return bool(_EXAMPLE.search(text)) if len(text) < 80 else False


def says_to_follow(text: str) -> bool:
    """True if the end of a paragraph says that the list below it is to be followed."""
    last = _SENTENCE.split(text)[-1]
    return last.rstrip().endswith(":") and bool(_FOLLOW.search(last))


def is_prohibition(text: str) -> bool:
    """True if a text says what must not be done."""
    return bool(_NEVER.match(text) or _NEVER_WITHIN.search(text))


def leads_prohibitions(text: str) -> bool:
    """True if a line such as "Never:" says that each entry below it must not be done."""
    return bool(_NEVER_LEAD.fullmatch(text))


def wants_approval(text: str) -> bool:
    """True if a text asks for a person's approval; "approve" alone is what the agent does."""
    if _is_of_others(text):
        return False
    return bool(_APPROVAL.search(text) or (_APPROVE.search(text) and (is_of_people(text) or _ASK.search(text))))


def wants_person(label: str) -> bool:
    """True if a label of a graph, or a heading, says that a person is asked."""
    if _is_of_others(label):
        return False
    return bool(wants_approval(label) or _PARTNER.search(label) or _ASK.search(label))


def is_for_approval(heading: str) -> bool:
    """True if a heading is that of a step in which something is approved, whoever does."""
    return not _is_of_others(heading) and bool(re.search(r"\bapprove\b", heading, re.IGNORECASE))


def ends_with_person(sentence: str) -> bool:
    """True if the last sentence of a step says that a person is asked: who it is must be said, too."""
    if _is_of_others(sentence) or is_prohibition(sentence):
        return False
    asks = _ASK.search(sentence) and (is_of_people(sentence) or _ASK_WHOM.match(sentence))
    return bool(asks or _PARTNER.search(sentence) or wants_approval(sentence))


def is_of_people(text: str) -> bool:
    """True if a text names a person."""
    return bool(_OF_PEOPLE.search(text))


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line."""
    return _SENTENCE.split(" ".join(text.split()))


def begins_with_verb(title: str) -> bool:
    """True if a title says what to do, as far as its first word is a verb that titles of steps begin with."""
    first = re.match(r"\W*([A-Za-z]+)", title)
    return first is not None and first[1].lower() in _VERBS


def short_title(text: str) -> str:
    """The first clause of a text, as a title."""
    text = " ".join(text.split())
    clause = text[: match.start()] if (match := _CLAUSE.search(text)) and match.start() > 2 else text
    if len(clause) <= _TITLE_LIMIT:
        return clause.strip(" :.;*_")
    cut = clause[:_TITLE_LIMIT]
    return cut[: cut.rfind(" ")].rstrip(" ,;:") if " " in cut else cut


def _is_of_others(text: str) -> bool:
    """True if a text speaks of agents or programs, and of no person."""
    return bool(_OTHERS.search(text)) and not is_of_people(text)
