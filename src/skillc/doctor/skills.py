"""Checks of skills: names, builds, locks, and what agents have of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from skillc import paths
from skillc.compiler import (
    NOT_BUILT,
    OBSOLETE,
    DeploymentState,
    detect_targets,
    existing_directories,
    find_build,
    find_damage,
    find_problem,
    inspect_deployment,
    read_agents,
)
from skillc.doctor.check import (
    Check,
    Place,
    build_command,
    discard,
    fail,
    ok,
    rebuild,
    redeploy,
    unlink,
    warn,
)
from skillc.errors import InvalidConfiguration, SkillcError
from skillc.install import advise_foreign, find_waste, read_installed, verify_all
from skillc.library import GLOBAL, PROJECT, Skill, is_compiled, is_skill, stored_skills
from skillc.library.records import DeploymentRecord, deployments_by_source, read_deployments, read_switches
from skillc.listing import list_agents
from skillc.origins import find_cycle, find_unmet
from skillc.paths import short_path as short
from skillc.quotes import shell_quote
from skillc.setup import find_hooks, find_registrations
from skillc.skills.document import parse, read_main_file, read_metadata
from skillc.text import count_of, first_of

MAX_NAMES = 8  # agents, or disabled skills, that are named
MAX_READ = 10_000  # SKILL.md files that are read for their names


def check_names(place: Place) -> Iterator[Check]:
    """Find skills of one name in the stores and in each agent's directory, whatever its case."""
    all_skills = list(stored_skills(place.cwd))
    by_name: dict[str, list[Skill]] = {}
    for skill in all_skills:
        by_name.setdefault(skill.name.casefold(), []).append(skill)
    for skills in by_name.values():
        if len(skills) > 1:
            first, *others = (f"'{short(skill.source)}'" for skill in skills)
            yield warn(f"{first} is used here and hides {', '.join(others)}: rename or remove one")
    names = set(by_name)
    for directory in existing_directories(place.cwd):
        places = [os.path.join(directory, name) for name in paths.list_names(directory) if name[0] != "."]
        folders = [folder for folder in places if is_skill(folder)][:MAX_READ]
        names.update(os.path.basename(folder).casefold() for folder in folders)
        yield from _find_doubles(directory, folders)
        yield from _find_rivals(folders, by_name)
    yield ok(f"{count_of(len(names), 'name')}, none of them twice")


def _find_doubles(directory: str, folders: list[str]) -> Iterator[Check]:
    """Yield the names that several folders of an agent's directory have."""
    by_name: dict[str, list[str]] = {}
    for folder in folders:
        by_name.setdefault(_read_name(folder).casefold(), []).append(os.path.basename(folder))
    for name, names in by_name.items():
        if len(names) > 1:
            listing = ", ".join(f"'{short(each)}'" for each in names)
            where = f"{listing} in '{short(directory)}'"
            yield warn(f"{where} all have the name '{short(name)}': rename or remove one")


def _find_rivals(folders: list[str], by_name: dict[str, list[Skill]]) -> Iterator[Check]:
    """Yield the folders of agents that are no deployments and have the name of a stored skill."""
    deployments = {record.path for record in read_deployments()}
    for folder in folders:
        skills = by_name.get(os.path.basename(folder).casefold(), [])
        if skills and folder not in deployments and not os.path.islink(folder) and not is_compiled(folder):
            other = short(skills[0].source)
            text = f"'{short(folder)}' is not the skill of that name in the store, '{other}'"
            yield warn(text, f"skc import {shell_quote(folder)}")


def _read_name(folder: str) -> str:
    """Return the name that agents see: the frontmatter's, else the folder's."""
    name = os.path.basename(folder)
    try:
        return read_metadata(parse(read_main_file(folder)), name).name
    except (SkillcError, OSError):
        return name


def check_needs(place: Place) -> Iterator[Check]:
    """Find programs, variables and skills that installed skills need and that are not here."""
    count = 0
    for root in dict.fromkeys([*paths.project_roots(place.cwd), *([place.home] if place.home else [])]):
        try:
            installed = read_installed(root)
        except (InvalidConfiguration, OSError):
            continue  # a check of its own
        count += len(installed)
        for skill in installed:
            for missing in skill.requirements.missing_here():
                yield warn(f"'{skill.name}' needs {missing}, which is not here")
        for unmet in find_unmet(installed):
            yield warn(unmet.warn().message)
        if circle := find_cycle(installed):
            yield warn(f"{' needs '.join(map(repr, circle))}")
    yield ok(f"{count_of(count, 'skill')} with all that they need")


def check_builds(place: Place) -> Iterator[Check]:
    """Find skills that can't be used, and builds that are older than their sources."""
    try:
        read_switches()
    except (InvalidConfiguration, OSError):
        return  # a build needs them; a check of its own
    skills: list[Skill] = []
    for skill in stored_skills(place.cwd):
        if error := find_problem(skill):
            text = f"'{short(skill.source)}' can't be used: {error.message}"
            yield fail(text, f"skc lint {shell_quote(skill.reference)}")
        else:
            skills.append(skill)
    records, backlog = deployments_by_source(), 0
    for skill in sorted(skills, key=lambda skill: (skill.scope != PROJECT, skill.name)):
        status, _ = find_build(skill)
        own = records.get(skill.source, [])
        repair = partial(rebuild, skill, place.cwd)
        backlog += status == NOT_BUILT
        if status == OBSOLETE:
            text = f"'{skill.name}' changed since it was built"
            yield warn(text, build_command(skill.reference, own), repair)
        stubs, manifests = find_damage(skill)  # copies at agents are another check's
        for stub in stubs:
            text = f"'{short(stub)}', which agents read, is not as it was built"
            yield warn(text, build_command(skill.reference, own, force=True))
        for manifest in manifests:
            text = f"'{short(manifest)}', which says what was built, is not as it was written"
            yield warn(text, f"skc build {shell_quote(skill.reference)}", repair)
    rest = f", {backlog:,} not built" if backlog else ""
    yield ok(f"{count_of(len(skills), 'skill')} in the stores{rest}")


def check_disabled(place: Place) -> Iterator[Check]:
    """Name the skills that are disabled, and find those that agents have all the same."""
    try:
        switches = read_switches()
    except (InvalidConfiguration, OSError):
        return  # a check of its own
    for record in read_deployments():
        switch = switches.get(record.source)
        if switch is not None and switch.covers(record.path) and os.path.lexists(record.path):
            text = f"'{record.skill}' is disabled, but '{short(record.path)}' is there"
            yield warn(text, f"skc disable {shell_quote(record.source)}")
    names = [f"{os.path.basename(source)} ({switch.text})" for source, switch in switches.items()]
    yield ok(first_of(names, MAX_NAMES) or "no skill is disabled")


def check_locks(place: Place) -> Iterator[Check]:
    """Compare the stores of the project and of the home with their locks."""
    locks = list(verify_all(place.cwd))
    for root, file, result in locks:
        if isinstance(result, InvalidConfiguration):
            yield fail(result.message)
            continue
        problems = {(each.id, each.summary): each for each in result.problems if each.is_of_store}
        for each in problems.values():
            text = f"'{each.id}' and '{short(file)}' disagree: {each.summary}"
            if each.is_of_entry:
                yield fail(text, "skc doctor --fix", partial(each.accept, root))
            else:
                yield warn(text, f"{each.fix}{' --global' if root == place.home else ''}")
    number = count_of(len(locks), "lock")
    yield ok(f"{number} as installed" if locks else "there is no skills-lock.json")


def check_agents(place: Place) -> Iterator[Check]:
    """Say which agents have a directory here, and whether skills can be deployed to them."""
    home = place.user_home
    if home is None:
        yield warn("there is no home directory in which agents could be found", "export HOME=…")
        return
    displays = {agent.name: agent.display for agent in read_agents()}
    names = []
    for name, folder in detect_targets(GLOBAL, place.cwd):
        names.append(name)
        target = folder if os.path.lexists(folder) else os.path.dirname(folder)
        if not os.path.isdir(target):
            yield warn(f"'{short(target)}' of {displays[name]} is no directory")
        elif not os.access(target, os.W_OK | os.X_OK):
            text = f"'{short(target)}' of {displays[name]} can't be written"
            yield warn(text, f"chmod u+rwx {shell_quote(target)}")
    found = f"found {first_of(names, MAX_NAMES)}" if names else "no agent has a directory here"
    yield ok("; ".join([found, *(line.rstrip(".") for line in advise_foreign(place.cwd))]))


def check_listings(place: Place) -> Iterator[Check]:
    """Say which agents cut what they tell their model of skills."""
    for each in list_agents(place.cwd).agents:
        if each.overflows:
            share = f"{each.whole} of {each.listed} descriptions whole"
            text = f"{each.display} shows {share}: its listing is full"
            fix = f"skc listing fit --agent {each.agent}"
            yield warn(text, f"skc import && {fix}" if each.foreign else fix)
        elif each.misfits:
            count = count_of(each.misfits, "description")
            text = f"{each.display} does not show {count} whole: missing or too long"
            yield warn(text, f"skc listing --skills --agent {each.agent}")
    yield ok("agents show all descriptions whole that they list")


def check_servers(place: Place) -> Iterator[Check]:
    """Check that the programs exist that agents' configurations start for `skc mcp`."""
    registrations = find_registrations(place.cwd)
    for entry in registrations:
        words = f"{entry.agent}{' --project' if entry.is_project else ''}"
        force = "" if entry.is_ours else " --force"
        fix = f"skc mcp --uninstall {words}{force} && skc mcp --install {words}"
        if not entry.program:
            yield warn(f"the entry of skillc in '{short(entry.path)}' starts no program", fix)
        elif os.path.isabs(entry.program) and not os.access(entry.program, os.X_OK):
            text = f"'{short(entry.path)}' starts '{short(entry.program)}', which does not exist any more"
            yield fail(text, fix)
    where = f"'skc mcp' is in {count_of(len(registrations), 'configuration')}"
    yield ok(where if registrations else "no agent is configured to start 'skc mcp'")


def check_hooks(place: Place) -> Iterator[Check]:
    """Check that the programs exist that agents' hooks start; without them, the hooks do nothing."""
    hooks = list(find_hooks()) if place.user_home else []
    for agent, path, program, is_ignored in hooks:
        if not os.access(program, os.X_OK):
            text = f"the hook in '{short(path)}' starts '{short(program)}', which does not exist any more"
            yield warn(text, f"skc setup {agent}")
        if is_ignored:
            what = f"'{short(path)}' has comments or a comma too many"
            yield warn(f"{what}, so that {agent} ignores it with its hooks")
    agents = ", ".join(dict.fromkeys(agent for agent, *_ in hooks))
    yield ok(f"set up for {agents}" if agents else "no agent has a hook of skc's")


def check_links(place: Place) -> Iterator[Check]:
    """Find links in agents' directories that lead nowhere; ours are safe to remove."""
    records = {record.path: record for record in read_deployments()}
    references = {skill.segment: skill.reference for skill in stored_skills(place.cwd)}
    links = 0
    for directory in existing_directories(place.cwd):
        for name in paths.list_names(directory):
            path = os.path.join(directory, name)
            links += os.path.islink(path)
            if not os.path.islink(path) or os.path.exists(path):
                continue
            record = records.get(path)
            if record is not None and record.is_ghost:
                continue  # a check of its own
            target = os.path.join(directory, os.readlink(path))
            text = f"'{short(path)}' is a link to '{short(target)}', which does not exist"
            if record is not None and inspect_deployment(record) is DeploymentState.LINK:
                repair = partial(redeploy, record, place.cwd)
                yield warn(text, build_command(record.source, [record]), repair)
            elif name in references:
                yield warn(text, f"skc build {shell_quote(references[name])}")
            elif paths.is_own_runtime(os.path.normpath(target)):
                yield warn(text, f"rm {shell_quote(path)}", partial(unlink, path))
            else:
                yield warn(f"{text}; skc did not make it", f"rm {shell_quote(path)}")
    yield ok(f"{count_of(links, 'link')} in agents' directories")


def check_ghosts(place: Place) -> Iterator[Check]:
    """Find deployments whose source is gone [D51]."""
    for waste in find_waste(place.cwd, "ghost"):
        if os.path.lexists(waste.path):
            text = f"'{short(waste.path)}' is deployed, but its source '{short(waste.origin)}' is gone"
            yield warn(text, "skc clean", partial(discard, waste))
    yield ok("the sources of all deployments are there")


def check_deployments(place: Place) -> Iterator[Check]:
    """Find deployments that are gone, were replaced or edited, or are older than their build."""
    records = [record for record in read_deployments() if os.path.isdir(record.source)]
    for record in records:
        state = inspect_deployment(record)
        build = build_command(record.source, [record])
        force = build_command(record.source, [record], force=True)
        what = f"'{short(record.path)}', which was deployed for '{record.skill}',"
        if state is DeploymentState.GONE and os.path.isdir(os.path.dirname(record.path)):
            yield warn(f"{what} is not there any more", build)
        elif state is DeploymentState.OTHER:
            yield warn(f"{what} is something else now; --force moves that to the trash", force)
        elif state is DeploymentState.EDITED:
            yield warn(f"{what} was edited there; --force moves that to the trash and deploys again", force)
        elif state is DeploymentState.FOLDER and _is_older(record):
            yield warn(f"{what} is of an older build", build, partial(redeploy, record, place.cwd))
    yield ok(f"{count_of(len(records), 'deployment')} as they were made")


def _is_older(record: DeploymentRecord) -> bool:
    """Return whether a deployed copy has another manifest than the build."""
    try:
        files = [paths.manifest_file(folder) for folder in (record.path, record.runtime)]
        one, two = (paths.read_regular(path, 1 << 20) for path in files)
    except OSError:
        return False
    return one != two
