"""``lockstep install``."""

from __future__ import annotations

from contextlib import suppress

import click
from click.core import ParameterSource

from skills.lib.commands.console import prompts
from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.queries import install_output
from skills.lib.errors import LockstepError, tell
from skills.lib.hosts import skills
from skills.lib.hosts.doctor import machine
from skills.lib.hosts.doctor.examination import OK, DoctorContext
from skills.lib.hosts.install import allowing, installing, locations, manifest, runtime
from skills.lib.hosts.install.changes import Plan
from skills.lib.hosts.known_hosts import HOSTS, KNOWN, SCOPES

PROJECT, USER = SCOPES


@click.command(
    epilog=examples(
        "lockstep install  # asks: which hosts, which scope, which skills",
        "lockstep install --yes  # every host that is found, all skills, for the user",
        "lockstep install codex --dry-run  # what would be written, and where",
        "lockstep install qwen --scope project --skill planner  # one skill, in this project alone",
        "lockstep install gemini --no-hooks  # steps are printed, nothing is enforced",
        "lockstep install codex --allow  # Codex runs the step scripts without asking you",
    )
)
@install_output.hosts_argument
@install_output.scope_option("as it is installed, else project with --project, else user")
@click.option("--skill", "names", metavar="NAME", multiple=True, help="Only this skill (repeatable; default: all).")
@click.option(
    "--hooks/--no-hooks", default=None, help="Hold the agent to the steps, or not (default: as it was, or on)."
)
@click.option(
    "--stops",
    type=click.IntRange(min=0, max=50),
    metavar="N",
    help="How often a stop in mid-run is refused (default: as it was, or 3).",
)
@click.option(
    "--allow/--no-allow",
    default=None,
    help="Let the host run the step scripts, and no others, without asking you; with --scope user (default: as it "
    "was, or no).",
)
@click.option("--yes", is_flag=True, help="Ask nothing: take the defaults, and without HOST every host that is found.")
@install_output.dry_run_option
@install_output.verbose_option
@install_output.force_option
@json_option
@project_option
@click.pass_context
def install(
    ctx: click.Context,
    hosts: tuple[str, ...],
    scope: str | None,
    names: tuple[str, ...],
    hooks: bool | None,
    stops: int | None,
    allow: bool | None,
    yes: bool,
    dry_run: bool,
    verbose: bool,
    force: bool,
    as_json: bool,
    project: str,
) -> int:
    """Put skills, role definitions and hooks where HOST looks for them.

    HOST is codex, claude, opencode, qwen, gemini, or agents (the folder .agents/skills, for any other host). A skill's
    texts and graphs are copied; the code that runs them is one runtime for all, in your data folder. A file that you
    changed is kept, unless you say otherwise at a terminal or with --force; the exit code is then 3. Other entries of a
    settings file stay as they are. Without a terminal nothing is asked.
    """
    asks = prompts.is_terminal() and not yes and not dry_run and not as_json
    if not hosts:
        found = locations.found_hosts()
        if asks:
            if not found:
                ctx.obj.say(install_output.NO_HOST)
            hosts = tuple(prompts.some_of("For which hosts?", HOSTS, found or HOSTS[:1]))
            every = sorted(skills.shipped_sources())
            names = names or tuple(prompts.some_of("Which skills?", every, every))
        elif yes and found:
            hosts = tuple(found)
        else:
            raise install_output.missing_host(ctx, looked=yes)
    named = ctx.get_parameter_source("project") is ParameterSource.COMMANDLINE
    default = PROJECT if named else USER
    if scope is None and asks:
        question = "For you in every project, or in this project?"
        usual = install_output.scope_of(hosts[0], project, default)
        scope = prompts.answer_to(question, default=usual, type=click.Choice(SCOPES), err=True)
    chosen = skills.chosen_sources(project, names) if names else skills.shipped_sources()
    code, shown = 0, []
    for host in hosts:
        place = locations.locations(host, scope or install_output.scope_of(host, project, default), project)
        was = manifest.installed(place)
        wanted = {**(installing.sources(was, skills.sources(project)) if was else {}), **chosen}
        choose = install_output.chooser(force, dry_run or not asks)
        allows = allow
        if allow is None and was is None and asks and allowing.is_possible(place):
            question = f"Let {KNOWN[host].title} run the step scripts, and no others, without asking you?"
            allows = prompts.confirmed(question)
        try:
            plan = installing.install(place, project, wanted, hooks, stops, choose, dry_run, allows)
        except LockstepError as error:
            if len(hosts) == 1:
                raise
            tell(f"{host}: {error.message()}")
            code = max(code, error.exit_code)
            continue
        shown.append(install_output.as_data(plan, dry_run))
        code = max(code, install_output.show(ctx.obj, plan, project, dry_run, verbose, as_json))
        if not dry_run:
            if place.scope != USER:
                runtime.register(project)
            _say_how_to_go_on(ctx.obj, plan, project)
    if as_json:
        ctx.obj.json(shown)
    return code


def _say_how_to_go_on(screen: Screen, plan: Plan, project: str) -> None:
    """What a user does once for the hooks, what is not to be committed, and how a skill is started."""
    place, then = plan.place, plan.then
    assert then is not None
    for result in machine.python(DoctorContext(project, (place.host,))):
        if result.status != OK:
            screen.say(f"{result.what}. {result.remedy}.")
    if then.hooks:
        known = KNOWN[place.host]
        screen.say(known.note if place.scope == PROJECT else known.user_note or known.note)
    if then.hooks and place.hooks:
        if _is_held_twice(place.host, place.scope, project):
            screen.say("Hooks are on in both scopes, so each event is served twice: --no-hooks leaves them out of one.")
        if place.scope == PROJECT:
            screen.say(_not_to_be_committed(plan, install_output.shown_path(place.hooks, place, project)))
    for name in list(then.skills)[:1]:
        screen.say(f'To start a skill, name it to {KNOWN[place.host].title}: "Use the skill {name} on …"')


def _not_to_be_committed(plan: Plan, path: str) -> str:
    """That the hooks are of this machine; a settings file that was there before may well be committed otherwise."""
    said = "this machine's Python by its path: do not commit"
    if plan.then is None or plan.then.made or not plan.place.is_merged:
        return f"{path} names {said} it. List it in .git/info/exclude, or install with --scope user."
    return f"The hooks in {path} name {said} them. With --scope user they are not in the project."


def _is_held_twice(host: str, scope: str, project: str) -> bool:
    """True if hooks are installed in the other scope, too."""
    found = None
    with suppress(LockstepError):  # a damaged manifest of the other scope is no matter of this one
        other = next(one for one in SCOPES if one != scope)
        found = manifest.installed(locations.locations(host, other, project))
    return found is not None and found.hooks
