"""Writes the launcher and the entries of runs in the user's state folder, and removes those of runs that are gone."""

from __future__ import annotations

import os

from skills.lib import files, launcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Counts up with each change of TEXT: a launcher that a newer version wrote stays.
VERSION = 1
_MARK = "# Lockstep launcher "
TEXT = f"""#!/bin/sh
{_MARK}{VERSION}: goes on with a run by its id. Lockstep writes this file, and writes it again if it is missing.
#   step RUN                    shows the present block of a run
#   step RUN TURN [STEP] [...]  leaves the step of that turn; - reads the report as JSON from standard input
fail() {{
    printf 'lockstep: %s\\n' "$1" >&2
    printf '  try:   %s\\n' "$2" >&2
    exit "$3"
}}
quoted() {{
    printf "'"
    printf '%s' "$1" | sed "s/'/'\\\\\\\\''/g"
    printf "'"
}}
[ -h "$0" ] && fail "$0 is a link to the launcher" 'the path that the block prints' 2
run=${{1-}}
case $run in
    '' | .* | *[!a-z0-9.]*) fail "'$run' is not the id of a run" "$0 RUN TURN" 2 ;;
esac
shift
entry=${{0%/*}}/{launcher.ENTRIES}/$run
[ -f "$entry" ] || entry=${{0%/*}}/{launcher.ENTRIES}/${{run%%.*}}
resume="in the project of the run: lockstep resume $run"
[ -f "$entry" ] || fail "run $run is not known to $0" "$resume" 4
{{ IFS= read -r python && IFS= read -r script && IFS= read -r project; }} <"$entry" ||
    fail "$entry cannot be read" "$resume" 4
[ -d "$project" ] || fail "$project, the project of run $run, is not there" "where it is now: lockstep resume $run" 4
[ -f "$script" ] || fail "$script, the script of run $run, is not there" "$resume" 4
if [ ! -x "$python" ]; then
    again="$(quoted "$script") --step current --run $run --project $(quoted "$project")"
    fail "$python, the Python of run $run, is not there" "a Python that has Lockstep: PYTHON $again" 4
fi
turn=
case ${{1-}} in
    '' | *[!0-9]*) ;;
    *) turn=$1 && shift ;;
esac
step=next
case ${{1-}} in
    '' | -*) [ -n "$turn" ] || step=current ;;
    resume) step=current && shift ;;
    *) step=$1 && shift ;;
esac
exec "$python" "$script" --step "$step" --run "$run" ${{turn:+--turn $turn}} --project "$project" "$@"
"""


def write(path: str) -> bool:
    """Write the launcher at ``path`` if something is wrong with it; False if it cannot be there and be run."""
    try:
        if fault(path):
            _replace(path)
        return os.access(path, os.X_OK)  # not on a file system without programs
    except OSError:
        return False


def fault(path: str) -> str:
    """What is wrong with the launcher at ``path``, as "is missing" or "is outdated"; empty if nothing is."""
    if os.path.islink(path) or not os.path.isfile(path):
        return "is no regular file" if os.path.lexists(path) else "is missing"
    try:
        with open(path, "rb") as file:
            found = file.read(len(TEXT) * 4).decode("utf-8", "replace")
    except OSError:
        return "cannot be read"
    if found != TEXT and _version(found) <= VERSION:
        return "is outdated" if found.startswith(f"#!/bin/sh\n{_MARK}") and _version(found) < VERSION else "is damaged"
    return "" if os.access(path, os.X_OK) else "is not executable"


def _replace(path: str) -> None:
    """Replace the launcher by one that its owner may run, at once: another agent may be calling it."""
    part = f"{path}.{os.urandom(8).hex()}{files.PART}"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700), "wb") as file:
            file.write(TEXT.encode())
        os.replace(part, path)
    except OSError:
        files.remove(part)
        raise


def _version(text: str) -> int:
    """The version of a launcher's text; 0 if it is none."""
    number = text.partition(_MARK)[2].partition(":")[0]
    return int(number) if number.isascii() and number.isdigit() else 0


def enter(path: str, run_id: str, place: tuple[str, ...]) -> bool:
    """Have the launcher call this interpreter, script and project for a run; False if it cannot.

    The entry of a run in another project that is still there stays: somebody goes on by it. A folder that was copied
    has the same runs.
    """
    if not all(os.path.isabs(one) and one.isprintable() for one in place) or not write(path):
        return False
    state = os.path.dirname(path)
    before = launcher.entry(state, run_id)
    if before == place:
        return True
    if before and before[2] != place[2] and os.path.isdir(before[2]):
        return False
    try:
        files.write(os.path.join(state, launcher.ENTRIES, run_id), "\n".join((*place, "")).encode())
    except OSError:
        return False
    return True


def remove(project: str, run_ids: Iterable[str]) -> None:
    """Remove the entries of these runs of a project."""
    path = launcher.path()
    state = os.path.dirname(path)
    for run_id in run_ids if path else ():
        if launcher.read(state, run_id)[2:] == (project,):
            files.remove(os.path.join(state, launcher.ENTRIES, run_id))
