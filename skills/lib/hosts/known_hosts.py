"""The hosts that Lockstep knows: where each looks for things, and how its program is installed and asked.

Read in the vendors' documents and in the clients (November 2026); docs/hosts/ has a page for each. A new host needs an
entry here, the events of its hooks in ``install/hooks.py``, the form of its role definitions in ``install/roles.py``,
and its names of tools and events in ``hook/tools.py`` and ``hook/event.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

SCOPES = ("project", "user")


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What is known of a host. Paths are given as their parts; an empty one means that the host has no such thing.

    ``title`` is the name that a user knows, ``note`` what a user has to know or do once, and ``user_note`` the same if
    the hooks are the user's and not a project's. ``skills``, ``roles`` and
    ``hooks`` are below the project; for a user, ``skills`` is below the home, and the other two are below the base of
    the user's settings, as ``user_roles`` and ``user_hooks`` if these are given. ``settings`` is the folder of the
    user's settings below that base. ``built_in`` are the roles that the host brings along: its own are left alone.

    ``package`` is the command that installs the program. ``supported`` is the version that the hooks were tried with,
    and the first that may differ. ``list_skills`` are the arguments by which the program says, without a model, which
    skills it sees; ``confirm`` says how a user confirms that the hooks are at work. ``switch`` is the key with which
    settings switch all hooks off, and the value that does. ``rules`` is the file of our own, below the base of
    the user's settings, with the commands that run without a question, of a host that takes such a file.
    """

    title: str
    note: str
    user_note: str = ""
    skills: tuple[str, ...] = (".agents", "skills")
    roles: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    user_roles: tuple[str, ...] = ()
    user_hooks: tuple[str, ...] = ()
    settings: str = ""
    built_in: frozenset[str] = frozenset()
    package: str = ""
    supported: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    list_skills: tuple[str, ...] = ()
    confirm: str = ""
    switch: tuple[tuple[str, ...], bool] | None = None
    rules: tuple[str, ...] = ()


KNOWN = {
    "codex": Host(
        title="Codex",
        note="Codex reads a project's hooks once it trusts the project, and skips hooks that it does not trust: start "
        "codex here, open /hooks, and trust them.",
        user_note="Codex skips hooks that it does not trust: start codex, open /hooks, and trust them.",
        roles=(".codex", "agents"),
        hooks=(".codex", "hooks.json"),
        user_roles=("agents",),
        user_hooks=("hooks.json",),
        package="npm install -g @openai/codex",
        supported=((0, 169), (1,)),
        list_skills=("debug", "prompt-input", "x"),
        rules=("rules", "lockstep.rules"),
    ),
    "claude": Host(  # its hooks are built from its documents, and tried with recorded events only
        title="Claude Code",
        note="Claude Code reads hooks when a session starts: begin a new one, and see /hooks.",
        skills=(".claude", "skills"),
        roles=(".claude", "agents"),
        hooks=(".claude", "settings.local.json"),
        user_hooks=(".claude", "settings.json"),
        settings=".claude",
        built_in=frozenset({"general-purpose"}),
        package="npm install -g @anthropic-ai/claude-code",
        confirm="Claude Code cannot be asked: begin a session and look at /hooks",
        switch=(("disableAllHooks",), True),
    ),
    "opencode": Host(
        title="opencode",
        note="opencode loads plugins when it starts: begin anew.",
        roles=(".opencode", "agent"),
        hooks=(".opencode", "plugin", "lockstep.js"),
        user_roles=("agent",),
        user_hooks=("plugin", "lockstep.js"),
        built_in=frozenset({"explore"}),
        package="npm install -g opencode-ai",
        supported=((1, 18), (2,)),
        list_skills=("--pure", "debug", "skill"),  # with plugins it would first bring what they need
        confirm="opencode has no trust to give: it loads the plugin when it starts",
    ),
    "qwen": Host(
        title="Qwen Code",
        note="Qwen Code reads hooks when it starts: begin anew, and see /hooks.",
        roles=(".qwen", "agents"),
        hooks=(".qwen", "settings.json"),
        settings=".qwen",
        built_in=frozenset({"general-purpose", "explore"}),
        package="npm install -g @qwen-code/qwen-code",
        supported=((0, 24), (1,)),
        confirm="Qwen Code cannot be asked: begin a session and look at /hooks",
        switch=(("disableAllHooks",), True),
    ),
    "gemini": Host(
        title="Gemini CLI",
        note="Gemini CLI runs a project's hooks in a trusted folder only: see /hooks.",
        user_note="Gemini CLI reads hooks when it starts: begin anew, and see /hooks.",
        roles=(".gemini", "agents"),
        hooks=(".gemini", "settings.json"),
        settings=".gemini",
        package="npm install -g @google/gemini-cli",
        supported=((0, 61), (1,)),
        list_skills=("skills", "list"),
        confirm="Gemini CLI loads them; in a session, /hooks shows them",
        switch=(("hooksConfig", "enabled"), False),
        rules=(".gemini", "policies", "lockstep.toml"),
    ),
    # Any host that reads .agents/skills: there is no program to look for.
    "agents": Host(
        title="the agent",
        note="This folder has no hooks and no role definitions: steps are printed, and nothing is enforced.",
    ),
}
HOSTS = tuple(KNOWN)
