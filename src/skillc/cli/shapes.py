"""The JSON that commands print: the shape of each, and what every key means, once.

A shape is written as in `{"skills":[{"id","line":N,"note"?}],"env":{name:text}}`: a key alone has a text or
null; `N` is a number and `bool` a truth value, both can be null; `?` marks a key that may be missing; a name
without quotes stands for any key; other words say what a text is. Help, the documentation and a test that
runs all commands read this table.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_AUDIT = '{"notes":N,"reviews":N,"blocks":N}'
_ASKS = '{"hosts":[text],"commands":[text],"environment":[text],"writes":[text],"installs":[text]}'
_FINDING = '{"rule","name","level","file","line":N,"message","fingerprint","by"?}'
_FAILURES = '[{"code","message"}]'
_BUILD = (
    '{"id","skill","status","source_path","runtime_path","source_hash","files":N,"changed":N,'
    '"deployments":[{"target","path","method"}],"warnings":[text]}'
)
_LATEST = '"id","current","latest","commit","changed":bool,"edited":bool'
_PROBLEMS = '{"problems":[{"id","file","problem"}]}'
_ITEM = '"id","path","from","when","reason"'
_DECISION = '{"skill","path","decision","digest","current":bool}'
_SKILL = (
    '{"id","name","description","scope","metadata":{name:any},"requires_capabilities"?:[text],"source_name"?}'
)
_PINS = '{"skills":[{"id","pinned":bool}]}'
_DISABLED = '{"id","disabled":bool,"deployments":[path]}'
_TOKEN_FIELDS = '"id","owner","role","prefix","label","created_at","expires_at","revoked_at"'  # noqa: S105 -- names
_PUBLISHER = '"id","repository","workflow","prefix","ref","environment","issuer"'
_HEADINGS = '[{"file","level":N,"heading","line":N}]'
_TOOLS = (
    '[{"name","description","parameters":{name:any},"source":{"skill"},"modes":[text],"read_only":bool,'
    '"always_ask":bool,"network":bool,"timeout":N}]'
)
_RELEASE = '"id","version","digest","uploaded":N,"published":bool,"registry"'

# By the words that choose what is printed.
SHAPES = {
    "add": (
        '{"added":[{"id","source","ref","commit","version","digest","files":N,"size":N,"tokens":N,'
        f'"audit":{_AUDIT},"targets":[path],"path"?}}],"unchanged":[id]}}'
    ),
    "audit": (
        f'{{"skills":[{{"id","path","asks":{_ASKS},"digest","notes":N,"reviews":N,"blocks":N,"allowed":N,'
        f'"findings":[{_FINDING}]}}],"failed":{_FAILURES},"notes":N,"reviews":N,"blocks":N,"warnings":[text]}}'
    ),
    "browse": (
        '{"type","path"?,"query"?,"subcollections"?:[{"path","description","count":N}],'
        f'"skills":[{_SKILL}],"more"?:N,"next_cursor"?,"note"?}}'
    ),
    "build": _BUILD,
    "build --all": f'{{"built":[{_BUILD}],"failed":[{{"id","skill","code","message"}}]}}',
    "clean": '{"entries":[{"id","kind","what","path","from","when","size":N,"result"?,"detail"?}]}',
    "completion": '{"shell","script"}',
    "diagnose": '{"diagnostics":[{"source_name","path","code","severity","message"}]}',
    "disable": _DISABLED,
    "doctor": '{"checks":[{"name","status","message","fix"}],"fixed"?:[text],"not_fixed"?:[text]}',
    "enable": _DISABLED,
    "find": (
        '{"query","results":[{"id","name","description","score":N,"source_name",'
        '"also":[{"source_name","id"}],"copies":[{"id","source_name"}],"matched":[{"term","fields":[text]}],'
        '"section","read"}],"corrections"?:{word:text}}'
    ),
    "grant add": '{"subject","role","prefix","registry"}',
    "grant list": '{"grants":[{"subject","role","prefix"}]}',
    "grant remove": '{"subject","prefix","removed":bool,"registry"}',
    "import": '{"imported":[{"id","from","to","how"}],"skipped":[{"path","reason"}]}',
    "init": '{"name","path"}',
    "install": '{"installed":[id],"unchanged":[id],"removed":[id]}',
    "inventory": '{"mode","xml"}',
    "lint": (
        '{"skills":[{"id","skill","path","skipped":bool,"errors":N,"warnings":N,'
        '"findings":[{"rule","name","severity","message","file","line":N,"fixable":bool}],'
        '"fixed":[{"rule","name","file"}],'
        '"tokens":{"metadata":N,"body":N,"files":[{"file","tokens":N}],"total":N}|null}],'
        f'"failed":{_FAILURES},"errors":N,"warnings":N}}'
    ),
    "lint --statistics": '{"rules":[{"rule","name","count":N}],"skills":N,"failed":N}',
    "lint --explain": '{"rules":[{"rule","name","severity","requirement","advice"}]}',
    "list": (
        '{"skills":[{"name","scope","status","source_path","runtime_path","disabled"?}],'
        '"total":N,"filtered":N}'
    ),
    "load": '{"id","name","body","byte_size":N}',
    "lock": '{"skills":[{"id","source","ref","commit","pinned":bool}]}',
    "lock --check": _PROBLEMS,
    "login": '{"registries":[{"registry","subject"}]}',
    "login <url>": '{"registry","subject","permissions":[{"role","prefix"}],"expires_at"}',
    "logout": '{"registry","removed":bool}',
    "mcp --http": '{"url"}',
    "mcp --install": '{"agent","path","changed":bool,"written":bool,"difference"}',
    "mcp --uninstall": '{"agent","path","changed":bool,"written":bool,"difference"}',
    "open": '{"path","size":N,"encoding","content","more_lines":N}',
    "outdated": f'{{"skills":[{{{_LATEST}}}]}}',
    "outline": _HEADINGS,
    "outline --format object": f'{{"headings":{_HEADINGS}}}',
    "pin": _PINS,
    "publish": f"{{{_RELEASE}}}",
    "publish --dry-run": f'{{{_RELEASE},"dry_run":bool,"files":[path],"size":N}}',
    "publisher add": f'{{{_PUBLISHER},"registry"}}',
    "publisher list": f'{{"publishers":[{{{_PUBLISHER}}}]}}',
    "publisher remove": '{"id","removed":bool,"registry"}',
    "remove": '{"removed":[{"id","trashed","deployments":[path]}]}',
    "repo add": '{"file","repository":{name:any},"guessed":bool,"kept":[path],"left":[path]}',
    "repo list": (
        '{"repositories":[{"name","type","status","skills":N,"quarantined":N,"shadowed":N,"error"}]}'
    ),
    "repo remove": '{"file","name","left":[name]}',
    "repo sync": '{"repositories":[{"name","type","status","before":N,"skills":N,"commit","error"}]}',
    "restore": f'{{"restored":{{{_ITEM}}}}}',
    "run": (
        '{"success":bool,"exit_code":N,"output","truncated":bool,"duration_ms":N,"sandbox","error"?,"code"?,'
        '"parsed"?:any}'
    ),
    "run --dry-run": '{"argv":[text],"cwd","env":{name:text},"sandbox"}',
    "search": '{"query","results":[{"file","section","snippet","score":N}]}',
    "serve": '{"token"?,"url"?}',
    "show": '{"file","heading","level":N,"line":N,"more_lines":N,"content"}',
    "sources": '{"root","entries":[{"path","type","files"?:N}],"more":N}',
    "stats": (
        '{"skill","skill_path","query","filters":{"since","until","projects":[path]},'
        '"period":{"start","end"},"data":{name:N}|[{name:any}]}'
    ),
    "stats --html": '{"path","html"}',
    "stats --prune": '{"removed":{skill:N}}',
    "sync": f'{{"synced":[{{"id","skill","entries":N}}],"failed":{_FAILURES},"dry_run":bool}}',
    "sync --to": (
        '{"registry","skills":[id],"days":[text],"rows":N,"ignored":N,"dry_run":bool,"counts"?:[{name:any}]}'
    ),
    "token create": f'{{{_TOKEN_FIELDS},"token"}}',
    "token list": f'{{"tokens":[{{{_TOKEN_FIELDS}}}]}}',
    "token revoke": '{"id","revoked":bool,"registry"}',
    "tools": _TOOLS,
    "tools --format object": f'{{"tools":{_TOOLS}}}',
    "trash empty": f'{{"deleted":[{{{_ITEM}}}]}}',
    "trash list": f'{{"entries":[{{{_ITEM},"size":N}}]}}',
    "trash restore": f'{{"restored":{{{_ITEM}}}}}',
    "trust adopt": '{"skill","path","level"}',
    "trust allow": _DECISION,
    "trust allow --variable": '{"variables":[{"project","variable","host"}]}',
    "trust deny": _DECISION,
    "trust list": f'{{"entries":[{_DECISION}],"variables"?:[{{"project","variable","host"}}]}}',
    "trust prune": '{"pruned":[{"skill","path"}]}',
    "trust show": (
        '{"skill","path","level","origin","decision","digest","current":bool,"changed":[text],'
        '"read_only":bool,"always_ask":bool,"network":bool,"tools":[{"name","command"}]}'
    ),
    "turn": (
        '{"system","message","events":[{"type","skills":[id],"injection_bytes":N}|'
        '{"type","reference","error"}],"notices":[text]}'
    ),
    "ui": '{"url"}',
    "unpin": _PINS,
    "update": (
        f'{{"skills":[{{{_LATEST},"files"?:[{{"file","change"}}],'
        f'"asks"?:{{"added":{_ASKS},"removed":{_ASKS},"findings":[{_FINDING}]}},'
        '"conflicts"?:[file],"diff"?}]}'
    ),
    "verify": _PROBLEMS,
    "yank": '{"id","version","yanked","registry"}',
}
ERROR = '{"error":{"code","message","hint"}}'

# Lists at the top: `--format object` has them in an object.
LISTS = ("outline", "tools")
# Keys that another one has replaced, and which go with the next release.
OLD_KEYS = {
    "build": {"skill": "id"},
    "build --all": {"skill": "id"},
    "lint": {"skill": "id"},
    "stats --html": {"html": "path"},
    "sync": {"skill": "id"},
}

# The meaning of each key, which is the same in all commands.
KEYS = {
    # Names and places
    "id": "what names it for commands: a skill's ID or name, or the ID of a token, a publisher, an item",
    "name": "its own name: of a skill, a repository, a rule, a check, a tool",
    "path": "where it is: absolute for what is on this machine, relative to the skill for its files",
    "file": "a file of a skill, relative to it; for `repo`, the skills.toml that was changed",
    "heading": "a heading as `outline` prints it",
    "section": "a heading to give to `show --section`",
    "line": "the line in the file, from 1",
    "level": "of a heading 1 to 6; of a finding note, review or block; of trust bundled, user or untrusted",
    "description": "what a skill, a collection or a tool is for",
    "scope": "project, global or builtin: whose skill it is",
    "skill": "a skill's ID, where another key is the subject",
    "skill_path": "the folder of that skill",
    "source_path": "the folder of a skill in its store",
    "runtime_path": "the folder of the compiled skill",
    "source_name": "the repository that has it",
    "source": "where it comes from, as `add` takes it; of a tool, its skill",
    "root": "the name of the folder that is listed",
    "origin": "where a skill comes from, in words",
    "from": "where it was",
    "to": "where it is now",
    "cwd": "the directory in which it runs",
    "project": "the directory of a project",
    "projects": "the projects that are counted",
    "host": "the address that gets a variable",
    "url": "the address that a server answers at",
    "registry": "the address of a registry",
    "repository": "a repository: its table in skills.toml, or its name at a code host",
    "prefix": "the skills it is about: those below this path; empty is all",
    "target": "the agent or path that it was deployed to",
    "agent": "an agent, as `--target` takes it",
    "shell": "bash, zsh or fish",
    # Versions, sources and contents
    "ref": "the branch or tag; empty or null where there is none",
    "commit": "the commit; empty or null where there is none",
    "version": "the version; empty where there is none",
    "current": "the version that is installed; of a decision, whether it is about the files as they are",
    "latest": "the newest version",
    "digest": "the digest of its files",
    "source_hash": "the hash of the skill's files",
    "fingerprint": "what names a finding in a baseline",
    "content": "the text, or base64 of it",
    "encoding": "utf-8 or base64",
    "body": "the block for a prompt; of token counts, the number for the body of SKILL.md",
    "xml": "the inventory for a prompt",
    "system": "the system prompt",
    "message": "what to say to people; of a turn, the message for the model",
    "script": "the text of a completion script",
    "snippet": "the text around what was found",
    "metadata": "further fields of the frontmatter; of token counts, the number for name and description",
    "parameters": "the JSON schema of a tool's parameters",
    "requires_capabilities": "what an agent needs to be able to do for it",
    # Numbers
    "size": "bytes",
    "byte_size": "bytes of the block",
    "injection_bytes": "bytes of the blocks in a message",
    "uploaded": "bytes that were sent",
    "tokens": "an estimate of tokens; `token list`: the tokens of a registry",
    "files": "how many files, or the files themselves",
    "count": "how many skills",
    "entries": "the entries of a list; `sync`: how many were moved",
    "total": "how many there are before any filter; of token counts, the sum",
    "filtered": "how many match, before the limit",
    "more": "how many entries a limit left out",
    "more_lines": "how many lines --max-lines left out",
    "next_cursor": "what to give to --cursor for those that follow",
    "score": "how well it fits; more is better",
    "errors": "how many findings are errors",
    "warnings": "how many findings are warnings, or the warnings themselves",
    "notes": "how many findings are notes",
    "reviews": "how many findings are to be reviewed",
    "blocks": "how many findings block",
    "allowed": "how many findings a policy allows",
    "quarantined": "how many skills can't be used",
    "shadowed": "how many skills an earlier repository has, too",
    "before": "how many skills there were",
    "rows": "how many counts",
    "ignored": "how many of them the registry did not take",
    "duration_ms": "milliseconds",
    "timeout": "seconds that a tool may take",
    "exit_code": "the status of a program; null where none ran",
    # Times: RFC 3339, in UTC
    "when": "when it happened",
    "created_at": "when it was made",
    "expires_at": "when it ends; null is never",
    "revoked_at": "when it was revoked",
    "since": "from when on",
    "until": "up to when",
    "start": "of the first access",
    "end": "of the last access",
    "days": "the days that were counted",
    # States and outcomes
    "type": "what kind of thing it is",
    "kind": "what kind of leftover it is",
    "status": "its state",
    "severity": "error or warning",
    "code": "the code of an error or warning, such as E001",
    "error": "what went wrong; null if nothing did",
    "hint": "what to do about an error",
    "problem": "what differs from the lock",
    "reason": "why",
    "fix": "the command that mends it",
    "result": "what became of it: removed, trashed or kept",
    "detail": "of what was trashed the ID in the trash, of what was kept the reason",
    "what": "what it is, in words",
    "how": "moved or copied",
    "method": "symlink, copy or junction",
    "change": "added, changed or removed",
    "changed": "whether it changed, or what and how many did",
    "edited": "whether it was edited here",
    "fixable": "whether --fix fixes it",
    "skipped": "whether it was left out, or what was",
    "pinned": "whether updates leave it alone",
    "disabled": "whether agents do without it; `list`: for which agents",
    "dry_run": "whether nothing was done",
    "written": "whether a file was written",
    "published": "whether it is a new version",
    "guessed": "whether the type was guessed from the address",
    "removed": "what was removed, or whether",
    "revoked": "whether it was revoked",
    "yanked": "the reason, while it is yanked",
    "trashed": "where in the trash it is",
    "success": "whether a run succeeded",
    "truncated": "whether output was left out",
    "decision": "allow or deny; null if nothing was decided",
    "read_only": "whether a tool says that it only reads",
    "always_ask": "whether each run asks",
    "network": "whether a tool may use the network",
    "sandbox": "bubblewrap, landlock or none",
    "mode": "flat or collections",
    "modes": "the modes that offer a tool",
    "role": "reader, publisher, maintainer or admin",
    # The thing that a result is about
    "query": "what was searched for; of statistics, what they are grouped by",
    "filters": "what was counted only",
    "period": "the time of the accesses that were counted",
    "data": "the counts, by `query`",
    "term": "a word of the task",
    "fields": "where a word was found",
    "matched": "the words of the task that a skill has, strongest first",
    "corrections": "words that no skill has, with those that were searched for instead",
    "also": "other repositories that have this ID",
    "copies": "where copies and near-copies are",
    "read": "the command that shows it",
    "note": "what else to know",
    "notices": "what to tell the user",
    "reference": "what led to no skill",
    "rule": "the number of a rule",
    "requirement": "what a rule wants",
    "advice": "how to satisfy it",
    "by": "the judge that said it",
    "command": "the command line of a tool",
    "argv": "the words of a command line",
    "env": "the variables of a process",
    "output": "what a program printed",
    "parsed": "what a program printed, where it is JSON",
    "difference": "what changes in the file, line by line",
    "diff": "what changes in the text, line by line",
    "asks": "what a skill asks for, or what changed in that",
    "hosts": "addresses that it names",
    "commands": "programs that it runs",
    "environment": "variables that it reads; of a publisher, the environment of CI",
    "writes": "files that it writes",
    "installs": "packages that it installs",
    "audit": "how many findings of each level an audit has",
    "token": "a token: it is shown once",
    "owner": "whose token it is",
    "subject": "a person or program",
    "label": "what a token is for",
    "permissions": "what a token may do",
    "workflow": "the file of a workflow of CI",
    "issuer": "where ID tokens come from",
    "variable": "a variable of the environment",
    "html": "the page that was written",
    # Lists
    "skills": "skills, or how many",
    "results": "what was found, best first",
    "subcollections": "collections below",
    "headings": "headings in order",
    "tools": "tools",
    "events": "what happened on the way",
    "diagnostics": "what was repaired, quarantined or shadowed",
    "checks": "what was checked",
    "findings": "what to look at",
    "failed": "what could not be done, while the rest was",
    "fixed": "what was mended",
    "not_fixed": "what could not be mended",
    "problems": "where lock and folders differ",
    "conflicts": "files with both versions in them",
    "deployments": "where agents have it",
    "targets": "where agents have it",
    "repositories": "repositories in order of precedence",
    "registries": "registries that you are logged in to",
    "grants": "roles of subjects",
    "publishers": "trusted workflows of CI",
    "variables": "variables that projects may use",
    "rules": "rules",
    "counts": "what was counted",
    "added": "what is new",
    "built": "what was built",
    "imported": "what was brought in",
    "installed": "what was installed",
    "unchanged": "what was as it should be",
    "synced": "whose logs were moved",
    "restored": "what was brought back",
    "deleted": "what is gone for good",
    "pruned": "decisions that were forgotten",
    "kept": "default folders that stay",
    "left": "what else there is: other repositories, or folders that are not searched any more",
}


def shapes_of(command: str) -> Iterator[tuple[str, str]]:
    """Yield what a command prints, by the words that choose it.

    >>> dict(shapes_of("init"))
    {'init': '{"name","path"}'}
    """
    return ((words, shape) for words, shape in SHAPES.items() if words.split()[0] == command)
