"""The commands by purpose, each with its summary."""

from __future__ import annotations

# Commands by purpose, with their summaries, in the order of `skc help all`.
GROUPS = {
    "Write skills": {
        "init": "Create a new skill, or an empty store.",
        "lint": "Check skills against the format and good practice, and estimate their token cost.",
        "build": "Compile a skill into a stub with a section index, and deploy it to agents.",
        "sign": "Vouch for a skill with a key of yours.",
        "digest": "Print the digest of a skill, to which locks and signatures are bound.",
        "list": "List the skills that are here: version, origin, agents, tokens, status.",
        "info": "Say everything about one skill, and what to do with it.",
    },
    "Bring skills in": {
        "import": "Bring the skills of agents and of folders into a store, all at once.",
        "add": "Get skills from repositories, sites, registries, archives and folders.",
        "audit": "Say what skills ask for, and what to look at before they are used.",
    },
    "Keep skills current": {
        "install": "Make the store equal to skills-lock.json.",
        "outdated": "List the locked skills that have a newer version.",
        "update": "Bring skills up to date; your edits are merged.",
        "pin": "Keep a skill at its version.",
        "unpin": "Let a pinned skill be updated again.",
        "lock": "Show skills-lock.json.",
        "verify": "Check each file against skills-lock.json, and say who signed skills.",
        "why": "Say which installed skills need a skill.",
    },
    "Take skills out": {
        "remove": "Take a skill away from agents and out of its store.",
        "disable": "Take a skill away from agents, and keep it.",
        "enable": "Give a disabled skill back to agents.",
        "restore": "Put something from the trash back where it was.",
        "trash": "List what skc replaced or removed, or delete it for good.",
        "clean": "Remove caches, builds of skills that are gone, and other leftovers.",
    },
    "Read skills as agents do": {
        "outline": "List the headings of a skill's Markdown files.",
        "show": "Print one section of a skill with its subsections.",
        "search": "Find the sections of a skill that contain all words of a query, best first.",
        "open": "Print a file of a skill.",
        "sources": "List the files of a skill as a tree.",
    },
    "Put skills into prompts": {
        "find": "Find the skills that fit a task, in all repositories, best first.",
        "browse": "List the skills and collections of the repositories, or search them.",
        "load": "Print a skill as it is put into a model's context.",
        "inventory": "Print the list of skills for a system prompt.",
        "turn": "Show what a model gets for a message: system prompt, injected skills, events.",
        "repo": "List, add, remove or refresh repositories of skills.",
    },
    "Run the tools of skills": {
        "tools": "List the tools that a skill declares, with their JSON schemas.",
        "run": "Run a tool that a skill declares, in a sandbox and after approval.",
        "trust": "Allow or deny the tools of skills, and list your decisions.",
    },
    "Serve skills": {
        "mcp": "Serve tools, skills and their files to agents over the Model Context Protocol.",
        "serve": "Serve a registry for a team, or the skills of all repositories, over HTTP.",
        "ui": "Show your skills in a browser.",
    },
    "Share skills in a registry": {
        "login": "Store a token for a registry.",
        "logout": "Forget the token for a registry.",
        "publish": "Publish a new version of a skill in a registry.",
        "yank": "Keep a version from being newly installed, or undo that.",
        "token": "Make, list and revoke the tokens of a registry.",
        "grant": "Say what people and programs may do in a registry.",
        "publisher": "Let workflows of CI publish in a registry without a stored token.",
    },
    "See what agents see and use": {
        "listing": "Show what each agent tells its model of each skill, and what it cuts.",
        "stats": "Show what agents used: sections, files, searches, errors.",
        "eval": "Say whether skills fire and help, from runs of real agents.",
        "sync": "Move logs kept in the project into the skills' own logs; send counts to a registry.",
    },
    "Set up skc": {
        "setup": "Make agents use the skills that are installed, in one command.",
        "hook": "Answer the hooks of agents, which 'skc setup' puts in.",
        "doctor": "Check this installation, and say which command puts right what is wrong.",
        "completion": "Print the completion script for a shell.",
    },
}
NAMES = tuple(name for commands in GROUPS.values() for name in commands)
# What `skc --help` explains: a person's day.
DAY = (
    *("setup", "import", "add", "list", "info", "find", "update", "remove"),
    *("audit", "lint", "build", "doctor"),
)
# They do one thing after the other, each of them whole or not at all.
IN_STEPS = ("add", "build", "clean", "eval", "import", "install", "publish", "remove", "update")
_OLD = {"diagnose": "The old name of 'skc doctor --library'."}
SUMMARIES = {name: summary for commands in (*GROUPS.values(), _OLD) for name, summary in commands.items()}
