"""Finds what a script can find wrong with documents, and holds what doc-sync records to it.

Faults are index rows and files that do not match, relative links that lead nowhere, and code-quoted paths that do not
exist. Called in the project's root; ``list SCOPE PATH`` prints the faults, or that there is none; ``faults``,
``digests`` and ``report`` print a JSON value to record; the other kinds check rows ("cell | cell") given as JSON
arrays. Prints each complaint and ends with 1 if there is one.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import posixpath
import re
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

import skills.lib.checks as checks
from skills.lib.checks import cells, repeated
from skills.lib.git import Git, GitProblem

KINDS = ("index", "link", "drift", "invisible", "misplaced", "temporal", "exempt")
INDEXES = ("CLAUDE.md", "AGENTS.md")
INDEX_HEADS = ("what", "file", "files", "folder", "directory", "subdirectory", "path", "name", "entry")
# What an index need not name: it says what it is by its name alone.
PLAIN = (".*", *INDEXES, "README*", "CHANGELOG*", "LICENSE*", "__init__.py", "py.typed", "*.lock", "package-lock.json")
HISTORY = ("changelog", "changes", "history", "news", "releases")
UNLISTED = ("node_modules", "vendor", "dist", "build", "target", "__pycache__", "venv")
SHOWN = 25
# One area is right for so many documents; where nothing is wrong, so many are compared one by one.
ALONE, COMPARED = 8, 12
# So many faults are recorded for the agent to see, and of so many documents the digests.
MOST_FAULTS, MOST_DIGESTS = 60, 400

_FENCE = re.compile(r"\s*(```|~~~)")
_SPAN = re.compile(r"(`+)(.+?)\1")
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_LINKED = re.compile(r"\[[^\]]*\]\([^)]*\)")
_REFERENCE = re.compile(r"\s{0,3}\[(?!\^)[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)")
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*:|//")
_PATH = re.compile(r"(?P<path>[\w.+-]+(?:/[\w.@+-]+)*/?)(?::\d+(?:-\d+)?|#L\d+\S*|::\S+)?")
_PLACE = re.compile(r"`?(?P<path>[^\s`|:][^`|:]*):(?P<first>\d+)(?:-(?P<last>\d+))?`?(?:\s*`[^`]*`)?")
_RULE = re.compile(r"\|?\s*:?-{2,}[-:|\s]*")

Rows = list[str]


class Fault(NamedTuple):
    """What is wrong at a line of a document, and the words there that it is about."""

    path: str
    line: int
    target: str
    why: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.why}"


class Project:
    """The files of a project as version control knows them, or as they lie there."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.files = sorted(listed(root))
        self.folders = {parent for file in self.files for parent in parents(file)}
        self.endings = {ending for file in self.files if (ending := posixpath.splitext(file)[1])}
        self.ignored = ignored(root)

    def has(self, path: str) -> bool:
        """Whether a path from the root is there."""
        return os.path.exists(os.path.join(self.root, path))

    def knows(self, path: str, folder: str) -> bool:
        """Whether a path is there, seen from a folder, from the root, or as the end of a longer one."""
        plain = posixpath.normpath(path)
        if self.has(posixpath.join(folder, plain)) or self.has(plain):
            return True
        if plain.split("/")[0] in self.ignored:
            return True
        return any(known.endswith("/" + plain) for known in (*self.files, *self.folders))

    def children(self, folder: str) -> set[str]:
        """The names directly in a folder."""
        start = f"{folder}/" if folder else ""
        return {file[len(start) :].split("/")[0] for file in self.files if file.startswith(start)}

    def documents(self, scope: str, path: str) -> list[str]:
        """The documents in scope; those of a source file are the ones that name it, and the index beside it."""
        path = plain_path(path)
        documents = [file for file in self.files if file.lower().endswith((".md", ".mdx", ".markdown"))]
        if scope == "repo":
            return documents
        if scope == "directory":
            return [file for file in documents if under(file, path)]
        if path in documents:
            return [path]
        folder, name = posixpath.split(path)
        beside = [posixpath.join(folder, index) for index in INDEXES]
        return [file for file in documents if file in beside or name in read(self.root, file)]


def listed(root: str) -> Iterator[str]:
    """The paths of a project's files: those that git tracks or would, else those outside hidden and built folders.

    Raises GitProblem if git does not answer.
    """
    printed = Git(root).output("ls-files", "-co", "--exclude-standard", "-z") or b""
    names = [os.fsdecode(name) for name in printed.split(b"\0")]
    if printed:
        yield from (name for name in names if name and os.path.isfile(os.path.join(root, name)))
        return
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in UNLISTED and (name[0] != "." or name == ".github")]
        for name in files:
            yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def ignored(root: str) -> set[str]:
    """The first names of what the project says is made and not kept."""
    try:
        lines = read(root, ".gitignore").splitlines()
    except OSError:
        return set()
    return {line.strip().strip("/").split("/")[0] for line in lines if line.strip() and line[0] not in "#!"}


def faults(project: Project, scope: str, path: str, left_out: Rows) -> list[Fault]:
    """Every fault of the documents in scope, once for a line and target, by document and line."""
    found: dict[tuple[str, int, str], Fault] = {}
    for document in project.documents(scope, path):
        if any(under(document, plain_path(cells(row)[0])) for row in left_out):
            continue
        lines = prose(read(project.root, document))
        for fault in (*index_faults(project, document, lines), *text_faults(project, document, lines)):
            found.setdefault((fault.path, fault.line, fault.target), fault)
    return sorted(found.values())


def index_faults(project: Project, document: str, lines: list[tuple[int, str]]) -> Iterator[Fault]:
    """What the tables of an index name that is not there, and what they leave out."""
    folder, name = posixpath.split(document)
    entries = index_entries(lines) if name in INDEXES else []
    children = project.children(folder)
    named = set()
    for line, entry in entries:
        plain = posixpath.normpath(entry)
        matching = {child for child in children if fnmatch.fnmatch(child, plain.split("/")[0])}
        named |= matching
        if not matching or ("/" in plain and "*" not in plain and not project.has(posixpath.join(folder, plain))):
            yield Fault(document, line, entry, f"the index names `{entry}`, which is not in {folder or 'the root'}")
    for child in sorted(children - named) if entries else ():
        if not any(fnmatch.fnmatch(child, pattern) for pattern in PLAIN):
            what = f"{child}/" if posixpath.join(folder, child) in project.folders else child
            yield Fault(document, entries[0][0], what, f"the index leaves out `{what}`")


def index_entries(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """What the first column of an index's tables names, with its line."""
    entries, inside, before = [], False, ""
    for number, line in lines:
        if not line.lstrip().startswith("|"):
            inside = False
        elif _RULE.fullmatch(line.strip()):
            inside = cells(before.strip().strip("|"))[0].strip("*").lower() in INDEX_HEADS
        elif inside:
            first = cells(line.strip()[1:])[0]
            names = [*_LINK.findall(first), *(found[1] for found in _SPAN.findall(_LINKED.sub("", first)))]
            entries += [(number, name.strip()) for name in names if name.strip()]
        before = line
    return entries


def text_faults(project: Project, document: str, lines: list[tuple[int, str]]) -> Iterator[Fault]:
    """Links and code-quoted paths of a document that lead nowhere; history may speak of what is gone."""
    folder = posixpath.dirname(document)
    past = posixpath.basename(document).lower().startswith(HISTORY)
    for number, line in lines:
        bare = _SPAN.sub("", line)
        for target in (*_LINK.findall(bare), *_REFERENCE.findall(bare)[:1]):
            why = link_fault(project, target, folder)
            if why:
                yield Fault(document, number, target, f"the link to {target} {why}")
        for _, quoted in () if past else _SPAN.findall(line):
            match = _PATH.fullmatch(quoted.strip())
            if match and means_a_file(project, match["path"], folder) and not project.knows(match["path"], folder):
                yield Fault(document, number, quoted.strip(), f"`{quoted.strip()}` is no file or folder of the project")


def link_fault(project: Project, target: str, folder: str) -> str:
    """Why a link does not lead to a file of the project, or nothing; addresses and anchors are none of ours."""
    path = unquote(re.split(r"[#?]", target, maxsplit=1)[0])
    if not path or _SCHEME.match(target):
        return ""
    whole = posixpath.normpath(path.lstrip("/") if path[0] == "/" else posixpath.join(folder, path))
    if whole == ".." or whole.startswith("../"):
        return "leads outside the project"
    return "" if project.has(whole) else "leads to no file"


def means_a_file(project: Project, path: str, folder: str) -> bool:
    """Whether quoted words are meant as a path: by an ending that the project has, or by a folder that it has."""
    if path[0] in "-@" or path.startswith("path/to/") or not path.strip("./"):
        return False
    known_ending = posixpath.splitext(path)[1] in project.endings
    if "/" not in path:
        return known_ending
    first = path.split("/")[0]
    return known_ending or path.endswith("/") or project.has(first) or project.has(posixpath.join(folder, first))


def area_complaints(scope: str, path: str, areas: Rows, left_out: Rows) -> Rows:
    """A path that does not fit the scope, and every document that no area holds."""
    wrong = scope_complaints(scope, path)
    if wrong:
        return wrong
    project = Project(os.getcwd())
    documents = project.documents(scope, path)
    held = [plain_path(part) for row in areas for part in re.split(r"[,\s]+", cells(row)[0]) if part]
    left = [plain_path(cells(row)[0]) for row in left_out]
    found = [f"{place or '.'}: no such file or folder" for place in (*held, *left) if not project.has(place)]
    found += left_out_complaints(documents, path, left_out)
    found += [complaint for row in areas if (complaint := area_complaint(row))]
    kept = [file for file in documents if not any(under(file, place) for place in left)]
    if scope != "file" and len(areas) == 1 and len(kept) > ALONE:
        found.append(f"one area for {len(kept)} documents, and it is right for up to {ALONE}: cut it in two or more")
    return found + [f"{file} is in no area and not left out" for file in kept if not any(under(file, p) for p in held)]


def area_complaint(row: str) -> str:
    """Why nobody could start from an area; empty if somebody could."""
    parts = [*cells(row), "", ""]
    if checks.says_little(parts[1], 2) or not parts[2]:
        return f"{row[:60]!r}: write paths | what to find out | first file to open"
    first = re.split(r"[,\s]+", parts[2])[0]
    return "" if os.path.isfile(plain_path(first)) else f"{row[:60]!r}: {first[:60]} is no file to open first"


def left_out_complaints(documents: Rows, path: str, left_out: Rows) -> Rows:
    """Rows without a reason, and what leaves out the scope or all of its documents."""
    found = []
    for row in left_out:
        parts = cells(row)
        if len(parts) < 2 or not checks.is_reason(parts[1]):
            found.append(f"{row[:60]!r}: write path | why it is left out, in more than a word")
        elif under(plain_path(path), plain_path(parts[0])):
            found.append(f"{row[:60]!r} leaves out the whole scope; name the documents that nobody is to touch")
    left = [plain_path(cells(row)[0]) for row in left_out]
    if documents and not found and all(any(under(file, place) for place in left) for file in documents):
        found.append("every document in scope is left out, and nothing would be compared: keep one at least")
    return found


def scope_complaints(scope: str, path: str) -> Rows:
    """Why a path is not one of that scope; a run keeps its parameters, so that it has to be opened anew."""
    full, root = os.path.realpath(path), os.path.realpath(".")
    why = ""
    if full != root and not full.startswith(root.rstrip(os.sep) + os.sep):
        why = "lies outside the project"
    elif scope == "repo" and full != root:
        why = "is a part, and --scope is repo"
    elif scope == "directory" and full == root:
        why = "is the whole project, and --scope is directory"
    elif scope == "file" and not os.path.isfile(full):
        why = "is not a file"
    elif scope == "directory" and not os.path.isdir(full):
        why = "is not a directory"
    anew = "end this run (lockstep abandon RUN --reason TEXT, with its id for RUN) and begin one with others"
    return [f"--path {path} {why}. A run keeps its parameters: {anew}"] if why else []


def audit_complaints(scope: str, path: str, left_out: Rows, findings: Rows, compared: Rows) -> Rows:
    """Findings without their parts, faults that no finding names, and documents that nobody compared with the code."""
    found, held = [], []
    for row in findings:
        parts = cells(row)
        if len(parts) < 5 or not all(parts[:5]) or parts[1] not in KINDS:
            found.append(
                f"{row[:60]!r}: write D1 | one of {', '.join(KINDS)} | path:line | what is wrong | what is right"
            )
            continue
        why, place = open_place(parts[2])
        found += [f"{parts[0]}, {parts[2]!r:.80}: {why}"] if why else checks.quotation_faults(row)
        held.append(place)
    found += [f"the id {name} is given twice" for name in repeated([cells(row)[0] for row in findings])]
    project = Project(os.getcwd())
    present = faults(project, scope, path, left_out)
    found += exemption_complaints(present, findings)
    for fault in present:
        if not any(file == fault.path and first <= fault.line <= last for file, first, last in held):
            found.append(f"no finding holds the line of {fault}")
    if not found and all(is_exempt(cells(row)) for row in findings):
        left = [plain_path(cells(row)[0]) for row in left_out]
        kept = [file for file in project.documents(scope, path) if not any(under(file, place) for place in left)]
        found += comparison_complaints(kept, compared)
    return found


def comparison_complaints(documents: Rows, compared: Rows) -> Rows:
    """Where nothing is to be done: rows that compare nothing, and documents without a row."""
    found, seen, decided = Rows(), set(), 0
    for row in compared:
        parts = [*cells(row), "", ""]
        why, (file, _, _) = open_place(parts[0])
        if not why and file not in documents:
            why = "this is no document in scope"
        if not why and parts[2].startswith("none:"):
            why = "" if checks.is_reason(parts[2].removeprefix("none:")) else "say why, in more than a word"
        elif not why:
            # What stands behind the place says why, and is not looked at.
            why, (other, _, _) = open_place(re.split(r"[\s,;]", parts[2], maxsplit=1)[0])
            why = why or ("a document does not decide what it says itself" if other == file else "")
            decided += not why
        if why or not parts[1]:
            form = "document:line | statement | path:line that decides it; or none: why nothing does"
            found.append(f"{row[:60]!r}: {why or 'there is no statement'}; write {form}")
        seen.add(file)
        found += checks.quotation_faults(row)
    missing = [file for file in documents if file not in seen]
    wanted = min(len(documents), COMPARED) - len(seen & set(documents))
    if not found and wanted > 0:
        found.append(
            f"nothing is to be done, so that compared says what was looked at: a statement of {wanted} more of the "
            f"documents, such as {', '.join(missing[:3])}"
        )
    if not found and documents and not decided:
        found.append("compared: no row names the place that decides a statement")
    return found


def exemption_complaints(present: list[Fault], findings: Rows) -> Rows:
    """Findings of kind exempt that lack a reason, or words at their lines which the script complains of."""
    found = []
    for parts in filter(is_exempt, map(cells, findings)):
        _, (file, first, last) = open_place(parts[2])
        there = [fault.target for fault in present if fault.path == file and first <= fault.line <= last]
        silent = [target for target in there if not says(parts[3], target)]
        if silent:
            found.append(f"{parts[0]}: put in what is exempt, word for word: {', '.join(silent)}")
        if not checks.is_reason(" ".join(parts[4:])):
            found.append(f"{parts[0]}: say in the last part why that is right, in more than a word")
    return found


def is_exempt(parts: Rows) -> bool:
    """Whether a finding, in its parts, is that a document is right where the script complains."""
    return len(parts) > 3 and parts[1] == "exempt"


def says(text: str, words: str) -> bool:
    """Whether a text has these words, and not as a piece of longer ones."""
    return re.search(rf"(?<![\w./-]){re.escape(words)}(?![\w/-])", text) is not None


def settled_complaints(
    findings: Rows, before: dict[str, str], undone: Rows, homes: Rows, kept: Rows, kept_homes: Rows
) -> Rows:
    """Findings that are not left, and whose document is as it was; rows that say nothing; text that has no home.

    A round without rows keeps those of the round before.
    """
    undone, homes = undone or kept, homes or kept_homes
    due = {parts[0]: parts for parts in map(cells, findings) if parts[1] not in ("index", "exempt")}
    unknown = [row for row in (*undone, *homes) if cells(row)[0] not in due]
    found = [f"{row[:60]!r}: this is no finding, or of kind index or exempt" for row in unknown]
    for kind, rows in (("undone", undone), ("homes", homes)):
        found += [f"{kind}: {name} is given twice" for name in repeated([cells(row)[0] for row in rows])]
    for row in undone:
        if not checks.is_reason(row.partition("|")[2]):
            found.append(f"{row[:60]!r}: write D1 | why it is left, in more than a word")
    left = {cells(row)[0] for row in undone}
    written = {cells(row)[0]: plain_path([*cells(row), ""][1]) for row in homes}
    for name, parts in due.items():
        if name in left:
            continue
        document = written.get(name, "" if parts[1] == "invisible" else file_of(parts[2]))
        if not document:
            found.append(f"{name} is missing: give {name} | path of the document in homes, or {name} | why in undone")
        elif not is_file_of_project(document) and document not in before:
            found.append(f"{name}: {document[:60]} is no file of the project")
        elif before.get(document) == digest(document):
            found.append(f"{name}: {document} is as it was at the audit; mend it, or give {name} | why in undone")
    return found


def file_of(place: str) -> str:
    """The path of a place, whether it is still there or not."""
    return plain_path(checks.location(place).rpartition(":")[0])


def digest(path: str) -> str:
    """A short digest of a file's words, as blanks mend nothing; empty if there is no such file."""
    return hashlib.sha256(b" ".join(checks.content(path).split())).hexdigest()[:12] if is_file_of_project(path) else ""


def digests(scope: str, path: str, findings: Rows) -> dict[str, str]:
    """The digests of the documents in scope, and of the files that findings name."""
    named = [open_place(cells(row)[2])[1][0] for row in findings]
    documents = Project(os.getcwd()).documents(scope, path)
    return {file: digest(file) for file in dict.fromkeys([*named, *documents[:MOST_DIGESTS]])}


def report(
    note: str, left_out: Rows, findings: Rows, compared: Rows, done: Rows, left: Rows, indexes: Rows, excepted: Rows
) -> str:
    """The report as the user will read it."""
    wrong = {parts[0]: parts for parts in map(cells, findings)}
    mended = [f"{name}: {' | '.join(what)} (was: {wrong[name][3]})" for name, *what in map(cells, done)]
    mended += [f"{name}: {parts[2]}: {' | '.join(parts[4:])}" for name, parts in wrong.items() if parts[1] == "index"]
    heads = {
        "Mended": mended,
        "Indexes": indexes,
        "Left for you to decide": left,
        "Right, though a script complains": excepted,
        "Not looked at": left_out,
        "Compared": compared,
    }
    parts = [f"{head}:\n" + "\n".join(f"- {row}" for row in rows) for head, rows in heads.items() if rows]
    return "\n\n".join([note.strip(), *parts])


def remaining_complaints(
    scope: str, path: str, left_out: Rows, findings: Rows, indexes: Rows, exceptions: Rows
) -> Rows:
    """Faults that are still there and not excepted, exceptions from nothing, and rows on indexes that are none."""
    present = faults(Project(os.getcwd()), scope, path, left_out)
    exempt = [(parts[2].strip("`").rpartition(":")[0], parts[3]) for parts in filter(is_exempt, map(cells, findings))]
    found, excepted = index_row_complaints(indexes), set()
    for row in exceptions:
        parts = cells(row)
        if len(parts) < 3 or not all(parts[:2]) or checks.says_little(parts[2], 2):
            found.append(f"{row[:60]!r}: write document | words as they stand there | why that is right")
            continue
        excepted.add((plain_path(parts[0]), parts[1].strip("`")))
    for fault in present:
        spared = any(plain_path(file) == fault.path and says(text, fault.target) for file, text in exempt)
        if not spared and (fault.path, fault.target) not in excepted:
            found.append(str(fault))
    known = {(fault.path, fault.target) for fault in present}
    return found + [f"{file}: {words} is no fault; strike the exception" for file, words in sorted(excepted - known)]


def index_row_complaints(indexes: Rows) -> Rows:
    """Rows that name no file or do not say what became of it, and files that are named twice."""
    found = [
        f"{row[:60]!r}: write path | rows added, changed, struck, with the path of a file"
        for row in indexes
        if len(parts := cells(row)) < 2 or not parts[1] or not is_file_of_project(plain_path(parts[0]))
    ]
    return found + [f"{file} is given twice" for file in repeated([plain_path(cells(row)[0]) for row in indexes])]


def present_faults(scope: str, path: str, left_out: Rows) -> Rows:
    """The first faults, as lines."""
    return [str(fault) for fault in faults(Project(os.getcwd()), scope, path, left_out)][:MOST_FAULTS]


def all_faults(scope: str, path: str) -> Rows:
    """Every fault as a line."""
    return scope_complaints(scope, path) or [str(fault) for fault in faults(Project(os.getcwd()), scope, path, [])]


def open_place(text: str) -> tuple[str, tuple[str, int, int]]:
    """Why a place cannot be opened, or nothing; and the place."""
    match = _PLACE.fullmatch(text)
    if match is None:
        return "this is not path:line", ("", 0, 0)
    path, first, last = plain_path(match["path"]), int(match["first"]), int(match["last"] or match["first"])
    if not is_file_of_project(path):
        return "no such file in the project; paths are relative to its root", ("", 0, 0)
    count = len(read(".", path).splitlines())
    return "" if 1 <= first <= last <= max(count, 1) else f"the file has {count} lines", (path, first, last)


def is_file_of_project(path: str) -> bool:
    """True if a path leads to a file, and not out of the project."""
    return not path.startswith("../") and not os.path.isabs(path) and os.path.isfile(path)


def prose(text: str) -> list[tuple[int, str]]:
    """The numbered lines outside code fences."""
    lines, fenced = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            lines.append((number, line))
    return lines


def read(root: str, path: str) -> str:
    """The text of a file, whatever its bytes."""
    return checks.text(os.path.join(root, path), "replace")


def parents(file: str) -> Iterator[str]:
    """The folders above a path."""
    while file := posixpath.dirname(file):
        yield file


def plain_path(path: str) -> str:
    """A path without quotes, leading dot and trailing slash; the root is empty."""
    plain = posixpath.normpath(path.strip().strip("`").replace(os.sep, "/"))
    return "" if plain == "." else plain


def under(file: str, place: str) -> bool:
    """Whether a path is that place or lies in it."""
    return not place or file == place or file.startswith(place + "/")


CHECKS: dict[str, tuple[checks.Check, str]] = {
    "list": (all_faults, "SCOPE PATH"),
    "areas": (area_complaints, "SCOPE PATH AREAS[] LEFT_OUT[]"),
    "audit": (audit_complaints, "SCOPE PATH LEFT_OUT[] FINDINGS[] COMPARED[]"),
    "settled": (settled_complaints, "FINDINGS[] BEFORE{} UNDONE[] HOMES[] KEPT[] KEPT[]"),
    "remaining": (remaining_complaints, "SCOPE PATH LEFT_OUT[] FINDINGS[] INDEXES[] EXCEPTIONS[]"),
}


# What prints a JSON value to record, and no complaints.
MADE: dict[str, tuple[Callable[..., object], str]] = {
    "faults": (present_faults, "SCOPE PATH LEFT_OUT[]"),
    "digests": (digests, "SCOPE PATH FINDINGS[]"),
    "report": (report, "NOTE LEFT_OUT[] FINDINGS[] COMPARED[] DONE[] LEFT[] INDEXES[] EXCEPTED[]"),
}


def value(form: str, text: str) -> object:
    """An argument as its form says; an empty list where it still is the name of what was never recorded."""
    if not form.endswith(("[]", "{}")):
        return text
    return [] if re.fullmatch(r"\{[\w.]+\}", text) else json.loads(text)


def main(arguments: list[str]) -> int:
    """Print the complaints of the check that is named, or the value to record; 0 if there are no complaints."""
    kind, values = (arguments[0] if arguments else ""), arguments[1:]
    check, forms = {**MADE, **CHECKS}.get(kind, (None, ""))
    if check is None or len(values) != len(forms.split()):
        print("usage: check_docs.py " + " | ".join(f"{name} {form}" for name, (_, form) in {**CHECKS, **MADE}.items()))
        return 2
    try:
        made = check(*(value(form, text) for form, text in zip(forms.split(), values, strict=True)))
    except (OSError, ValueError) as error:
        return complained([f"this cannot be checked: {error}"])
    except GitProblem as error:
        return complained([f"this cannot be checked: {error}", *error.lines()[1:]])
    if kind in MADE:
        print(json.dumps(made, ensure_ascii=False))
        return 0
    assert isinstance(made, list)
    if kind == "list" and not made:
        count = len(Project(os.getcwd()).documents(*values))
        print(f"nothing is wrong in {count} document{'s' if count != 1 else ''}")
    return complained(made, len(made) if kind == "list" else SHOWN)


def complained(found: Rows, most: int = SHOWN) -> int:
    """Print so many complaints at most, and how many more there are; 1 if there is one, else 0."""
    for line in found[:most]:
        print(line)
    if len(found) > most:
        print(f"and {len(found) - most} more")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
