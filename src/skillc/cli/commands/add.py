"""`skc add`: get skills from repositories, sites, registries, archives and folders."""

from __future__ import annotations

import contextlib
import sys

from skillc import audit, compiler, install, library
from skillc.cli import show, workspace
from skillc.cli.approval import ask, confirm, terminal
from skillc.cli.commands.install import ACCEPT_BLOCKS
from skillc.cli.hosts import ALLOW_HOST, allowed_hosts
from skillc.cli.progress import Activity, Progress
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option
from skillc.cli.usage_errors import see
from skillc.errors import AuditBlocked, InvalidOption, OriginNotFound, SkillcError, unexpected, warning
from skillc.spelling import suggest
from skillc.startup import value
from skillc.text import count_of, cut, fold_line, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from skillc.workspace import Workspace

MAX_LISTED = 50  # skills in one list
MAX_FINDINGS = 5  # of an audit, in the summary
MAX_ASKS = 6  # of one kind
WIDTH = 90  # columns of a description

COMMAND = Command(
    "add",
    arguments=(
        Argument(
            "source",
            "owner/repo[/path][@ref], an address (also of a SKILL.md or a marketplace.json), an archive, a"
            " folder, or <registry>/<id>[@version].",
            repeat=True,
            completes="origins",
        ),
    ),
    options=(
        Option(
            "--skill",
            "A skill to add, by its name or path, or a plugin. Can be repeated.",
            value="<name>",
            repeat=True,
        ),
        Option("--all", "Add every skill that the source has."),
        Option(
            "--target",
            "Agents or paths to deploy to, separated by commas. Default: the agents that are installed.",
            value="<a,b>",
            completes="agents",
        ),
        Option("--global", "Add to ~/.skillc/skills, also in a project."),
        Option("--project", "Add to the project's store, .skillc/skills."),
        Option("--copy", "Deploy copies instead of links."),
        ALLOW_HOST,
        Option("--dry-run", "Say what would be added, and write nothing."),
        Option("--yes", "Do not ask. What the audit blocks needs --accept-blocks."),
        ACCEPT_BLOCKS,
        FORMAT,
    ),
    description=(
        "Shows where a skill comes from, its files, its size and what it asks for, before anything is"
        " written. Then it is put into the store, noted in skills-lock.json, built and deployed. Its tools"
        " stay untrusted. Without --global or --project it goes into the project's store if there is a"
        " project, else into ~/.skillc/skills.\n"
        "A source with several skills needs --skill or --all; on a terminal there is a list to choose from."
    ),
    examples=(
        "skc add anthropics/skills --skill pdf",
        "skc add https://github.com/anthropics/skills/tree/main/skills/pdf",
        "skc add git@example.com:team/skills.git@v1.2 --all --global",
        "skc add https://skills.example.com --dry-run",
        "skc add ./pdf.zip --target claude,cursor",
        "skc add clawhub:pdf@1.0.0 --yes",
        "skc add https://skills.example.com/mcp --skill pdf",
    ),
)


def run(arguments: Arguments) -> int:
    if arguments.has("global") and arguments.has("project"):
        raise InvalidOption(f"--global and --project exclude each other; {see(COMMAND)}")
    if arguments.has("all") and arguments.texts("skill"):
        raise InvalidOption(f"--all and --skill exclude each other; {see(COMMAND)}")
    here = workspace()
    scope = library.GLOBAL if arguments.has("global") else library.PROJECT if arguments.has("project") else ""
    store = install.choose_store(here.cwd, scope)
    targets = _find_targets(arguments, store, here.cwd)
    with contextlib.ExitStack() as stack:
        offers = _make_offers(arguments, store, here, stack)
        _check(arguments, offers, store, targets)
        if arguments.has("dry_run"):
            return _show_plan(arguments, offers, store, targets)
        if not arguments.has("yes") and terminal():
            targets = _agree(offers, store, targets)
        elif not arguments.as_json:
            print("\n".join(_summary(offers, store, targets)), file=sys.stderr)
        return _add(arguments, offers, store, targets, here)


def _check(
    arguments: Arguments,
    offers: Sequence[install.Offer],
    store: install.Store,
    targets: Sequence[compiler.Target],
) -> None:
    """Stop at what the audit blocks, after showing it, and at names that are taken."""
    try:
        install.check_offers(offers, store, targets, accept=arguments.has("accept_blocks"))
    except AuditBlocked:
        if not arguments.as_json:
            print("\n".join(_summary(offers, store, targets)), file=sys.stderr)
        raise


def _find_targets(arguments: Arguments, store: install.Store, cwd: str) -> Sequence[compiler.Target]:
    scope = "user" if store.scope == library.GLOBAL else "project"
    names = arguments.optional("target")
    return (
        compiler.find_targets(names, scope, cwd)
        if names is not None
        else compiler.detect_targets(scope, store.root)
    )


def _make_offers(
    arguments: Arguments, store: install.Store, here: Workspace, stack: contextlib.ExitStack
) -> list[install.Offer]:
    """Open all sources, choose the skills, and say what is known of each."""
    skill_names = list(arguments.texts("skill"))
    places = _find_places(arguments, here.cwd, skill_names)
    policy = audit.read_policy()
    downloads: list[install.Download] = []
    for place in places:
        with Activity(f"Fetching {place.origin.label()}"):
            names = skill_names if len(places) == 1 and not place.is_chosen else ()
            downloads.append(_open(place, names, here, stack))
    choices = _choose(arguments, places, downloads, skill_names)
    offers: list[install.Offer] = []
    with Progress(sum(map(len, choices)), "skills") as progress:
        for download, candidates in zip(downloads, choices, strict=True):
            download.complete(candidates)
            for candidate in candidates:
                progress.step(candidate.name)
                offers += install.make_offers(download, [candidate], store, policy)
    _check_names(offers)
    return offers


def _open(
    place: _Place, names: Sequence[str], here: Workspace, stack: contextlib.ExitStack
) -> install.Download:
    """Open a place. A plugin without a skill, which may have other things, is left out with a warning."""
    plugin = place.plugin
    try:
        opening = install.open_download(
            place.origin, names=names, lazy=True, report=lambda each: here.tell((each,))
        )
        download = stack.enter_context(opening)
    except OriginNotFound as error:
        if plugin is None or names or not error.reason.startswith("there is no skill"):
            raise
        download = install.Download(place.origin, "", ())
    if plugin is not None:
        kept = install.keep_skills(plugin, download.origin.path, download.candidates)
        if not kept:
            here.tell([warning("W080", plugin.name, "the plugin has no skill")])
        download = download.narrow(kept)
    return download


@value
class _Place:
    """A place to open: a source, or a plugin of a marketplace, which may be chosen with all its skills."""

    origin: install.Origin
    plugin: install.Plugin | None = None
    is_chosen: bool = False


def _find_places(arguments: Arguments, cwd: str, skill_names: list[str]) -> list[_Place]:
    """Return what to open. Names of plugins are taken out of `skill_names`: they mean all of a plugin."""
    hosts = allowed_hosts(arguments)
    origins = [install.parse_origin(text, cwd, hosts) for text in arguments.texts("source")]
    places: list[_Place] = []
    names: set[str] = set()
    for origin in origins:
        marketplace = install.find_marketplace(origin)
        if marketplace is None:
            places.append(_Place(origin))
            continue
        plugins = {each.name for each in marketplace.plugins}.intersection(skill_names)
        names |= plugins
        places += _find_plugins(arguments, marketplace, plugins, has_others=len(plugins) < len(skill_names))
    skill_names[:] = [name for name in skill_names if name not in names]
    return places


def _find_plugins(
    arguments: Arguments, marketplace: install.Marketplace, names: Collection[str], *, has_others: bool
) -> Iterator[_Place]:
    """Yield the plugins with these names, and those in which other skills are to be looked for."""
    if not names and not has_others and not arguments.has("all"):
        choice = _choose_from(install.Download(marketplace.origin, "", marketplace.candidates()), "plugins")
        names = {each.name for each in choice}
    chosen = marketplace.choose(sorted(names)) if names or arguments.has("all") else []
    for plugin in chosen:
        yield _Place(marketplace.origin_of(plugin), plugin, is_chosen=True)
    if has_others:
        others = [each for each in marketplace.search() if each.name not in names]
        yield from (_Place(marketplace.origin_of(each), each) for each in others)


def _check_names(offers: Sequence[install.Offer]) -> None:
    by_name: dict[str, install.Offer] = {}
    for offer in offers:
        other = by_name.setdefault(offer.name, offer)
        if other is not offer:
            places = f"{other.origin.label()} and {offer.origin.label()}"
            raise InvalidOption(f"two skills are named '{offer.name}': of {places}; add them one by one")


def _choose(
    arguments: Arguments,
    places: Sequence[_Place],
    downloads: Sequence[install.Download],
    skill_names: Sequence[str],
) -> list[Sequence[install.Candidate]]:
    """Return the candidates of each source that are to be added."""
    if skill_names and len(downloads) > 1:
        _require_names(downloads, skill_names)
    choices: list[Sequence[install.Candidate]] = []
    for place, download in zip(places, downloads, strict=True):
        if place.is_chosen or arguments.has("all") or (skill_names and len(downloads) == 1):
            choices.append(download.candidates)
        elif skill_names:
            choices.append([each for each in download.candidates if each.name in skill_names])
        else:
            choices.append(_choose_from(download))
    if not any(choices):
        label = ", ".join(download.origin.label() for download in downloads)
        raise OriginNotFound(label, "there is no skill in it that can be added")
    return choices


def _require_names(downloads: Sequence[install.Download], skill_names: Sequence[str]) -> None:
    names = {candidate.name for download in downloads for candidate in download.candidates}
    for name in skill_names:
        if name not in names:
            close = suggest(name, names)
            hint = f"hint: did you mean {' or '.join(close)}?" if close else ""
            places = ", ".join(download.origin.label() for download in downloads)
            raise OriginNotFound(places, f"there is no skill '{name}' in them", hint)


def _choose_from(download: install.Download, what: str = "skills") -> Sequence[install.Candidate]:
    """Return the only skill of a source, or those that a person chooses from the list."""
    candidates = download.candidates
    if len(candidates) == 1:
        return candidates
    if not candidates:
        raise OriginNotFound(download.origin.label(), "none of its skills can be used")
    if not terminal():
        names = ", ".join(each.name for each in candidates[:MAX_LISTED])
        more = f" and {len(candidates) - MAX_LISTED} more" if len(candidates) > MAX_LISTED else ""
        label = download.origin.label()
        raise InvalidOption(
            f"{label} has {len(candidates)} {what}; --skill <name> adds one, --all adds all: {names}{more}"
        )
    return _ask_for_skills(download, what)


def _ask_for_skills(download: install.Download, what: str) -> Sequence[install.Candidate]:
    """Show a list and return what is chosen from it; words that are no choice narrow the list."""
    candidates: Sequence[install.Candidate] = download.candidates
    while True:
        print(
            f"\n{one_line(download.origin.label())} has {len(download.candidates)} {what}:", file=sys.stderr
        )
        for number, each in enumerate(candidates[:MAX_LISTED], 1):
            line = f"{number:>4}  {each.name}  {fold_line(each.description)}"
            print(cut(one_line(line), WIDTH), file=sys.stderr)
        if len(candidates) > MAX_LISTED:
            print(f"      and {len(candidates) - MAX_LISTED} more; type a word to search", file=sys.stderr)
        answer = ask("Add which? Numbers, names, all, or a word to search; nothing ends: ")
        if not answer:
            raise InvalidOption("nothing added")
        if answer == "all":
            return candidates
        choice = _parse_choice(answer, candidates)
        if choice:
            return choice
        words = answer.split()
        texts = [(each, f"{each.name} {each.description}".lower()) for each in download.candidates]
        matches = [each for each, text in texts if all(word in text for word in words)]
        if not matches:
            print(f"No skill matches '{one_line(answer)}'.", file=sys.stderr)
        candidates = matches or download.candidates


def _parse_choice(answer: str, candidates: Sequence[install.Candidate]) -> list[install.Candidate]:
    """Return the candidates for numbers, ranges of them and names; none if a word is nothing of these."""
    names = {each.name: each for each in candidates}
    choice: dict[str, install.Candidate] = {}
    for word in answer.replace(",", " ").split():
        first, _, last = word.partition("-")
        if word in names:
            choice[word] = names[word]
        elif first.isdecimal() and (not last or last.isdecimal()):
            numbers = range(int(first), int(last or first) + 1)
            if (
                len(first) > 6
                or len(last) > 6
                or not 1 <= numbers.start <= numbers.stop - 1 <= len(candidates)
            ):
                return []
            choice |= {candidates[number - 1].name: candidates[number - 1] for number in numbers}
        else:
            return []
    return list(choice.values())


def _agree(
    offers: Sequence[install.Offer], store: install.Store, targets: Sequence[compiler.Target]
) -> Sequence[compiler.Target]:
    """Show what is known and ask; return the agents to deploy to."""
    text = "\n".join(_summary(offers, store, targets))
    if len(targets) < 2:
        if not confirm(text, f"Add {'it' if len(offers) == 1 else 'them'}?"):
            raise InvalidOption("nothing added; --yes adds without asking")
        return targets
    print(text, file=sys.stderr)
    names = ", ".join(name for name, _ in targets)
    answer = ask(f"Add for {names}? (y)es, (c)hoose agents, (N)o: ")
    if answer in ("c", "choose"):
        words = ask("For which agents? Separated by commas: ").replace(",", " ").split()
        choice = [target for target in targets if target[0] in words]
        if words and len(choice) == len(words):
            return choice
    elif answer in ("y", "yes"):
        return targets
    raise InvalidOption("nothing added; --yes adds without asking")


def _summary(
    offers: Sequence[install.Offer], store: install.Store, targets: Sequence[compiler.Target]
) -> Iterator[str]:
    """Yield what is known of skills before anything is written."""
    for offer in offers[:MAX_LISTED]:
        yield from map(one_line, _describe(offer))
    if len(offers) > MAX_LISTED:
        yield f"and {len(offers) - MAX_LISTED} more"
    names = ", ".join(name for name, _ in targets)
    yield one_line(f"into      {store.folder}")
    yield one_line(f"agents    {names or 'none: no agent is installed here; --target names one'}")


def _describe(offer: install.Offer) -> Iterator[str]:
    report, download = offer.audit, offer.download
    state = "  (unchanged)" if offer.is_there else ""
    yield f"{offer.name}{state}  {cut(fold_line(offer.description), WIDTH)}"
    path = f", {offer.candidate.path}" if offer.candidate.path else ""
    version = f", commit {download.commit}" if download.commit else ""
    version += f", version {offer.candidate.version}" if offer.candidate.version else ""
    yield f"  from      {offer.origin.label()}{path}{version}"
    yield f"  files     {offer.files:,}, {offer.size:,} bytes, about {offer.tokens:,} tokens in SKILL.md"
    asks = [f"{kind} {_few(values)}" for kind, values in report.asks.as_json().items() if values]
    yield f"  asks for  {'; '.join(asks) or 'nothing that the audit knows'}"
    levels = {"block": report.blocks, "review": report.reviews, "note": report.notes}
    yield f"  audit     {', '.join(count_of(number, level) for level, number in levels.items())}"
    findings = [finding for finding in report.findings if finding.level in (audit.BLOCK, audit.REVIEW)]
    for finding in findings[:MAX_FINDINGS]:
        place = f"{finding.file}:{finding.line}"
        yield f"            {finding.level} {finding.rule.id} {place}: {cut(finding.message, WIDTH)}"
    if len(findings) > MAX_FINDINGS:
        yield f"            and {len(findings) - MAX_FINDINGS} more"


def _few(values: Sequence[str]) -> str:
    more = f" and {len(values) - MAX_ASKS} more" if len(values) > MAX_ASKS else ""
    return ", ".join(values[:MAX_ASKS]) + more


def _show_plan(
    arguments: Arguments,
    offers: Sequence[install.Offer],
    store: install.Store,
    targets: Sequence[compiler.Target],
) -> int:
    """Print what would be added."""

    def value() -> dict[str, object]:
        new = [
            offer.as_json() | {"targets": [f"{directory}/{offer.name}" for _, directory in targets]}
            for offer in offers
            if not offer.is_there
        ]
        return {"added": new, "unchanged": [offer.name for offer in offers if offer.is_there]}

    return show(
        arguments, value, lambda: [*_summary(offers, store, targets), "Nothing was written."], "paint_report"
    )


def _add(
    arguments: Arguments,
    offers: Sequence[install.Offer],
    store: install.Store,
    targets: Sequence[compiler.Target],
    here: Workspace,
) -> int:
    additions: list[install.Addition] = []
    failures: list[SkillcError] = []
    settings = here.settings()
    with Progress(len(offers), "skills") as progress:
        for offer in offers:
            progress.step(offer.name)
            try:
                addition = install.add_skill(
                    offer, store, targets, settings, here.cwd, copy=arguments.has("copy")
                )
            except Exception as error:
                if len(offers) == 1:
                    raise
                failures.append(unexpected(error))
                progress.say(one_line(f"{failures[-1].line()} ({offer.name})"))
                continue
            additions.append(addition)
            progress.clear()
            here.tell(addition.diagnostics)
            here.tell_publication(addition.publication)
    new = [each for each in additions if not each.offer.is_there]
    same = [each.offer.name for each in additions if each.offer.is_there]
    value = {"added": [each.as_json() for each in new], "unchanged": same}
    show(
        arguments,
        lambda: value,
        lambda: [line for each in additions for line in _report(each)],
        "paint_report",
    )
    return 1 if failures or any(each.publication.failures for each in additions) else 0


def _report(addition: install.Addition) -> Iterator[str]:
    offer = addition.offer
    at = f" at {offer.download.commit[:12]}" if offer.download.commit else ""
    verb = "Unchanged:" if offer.is_there else "Added"
    yield one_line(f"{verb} '{offer.name}' from {offer.origin.label()}{at} in {addition.skill.source}")
    for each in addition.publication.deployments:
        yield one_line(f"  {each.target}: {each.path} ({each.method})")
