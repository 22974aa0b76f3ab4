"""Checks of agents: which there are, what their folders and configurations hold, what is deployed to them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from skillc import paths
from skillc.compiler import detect_targets, read_agents
from skillc.install import dangling
from skillc.install.clients import find_registrations
from skillc.install.dangling import agent_directories
from skillc.install.doctor.check import ERROR, OK, WARNING, Check, Place, short
from skillc.install.doctor.repair import build_command, discard, redeploy, unlink
from skillc.install.waste import list_names
from skillc.library import GLOBAL, DeploymentRecord, read_deployments, stored_skills
from skillc.quotes import shell_quote
from skillc.text import count_of

MAX_NAMES = 8  # agents that are named


def check_agents(place: Place) -> Iterator[Check]:
    """Say which agents have a directory here, and whether skills can be deployed to them."""
    home = place.user_home
    if home is None:
        yield Check(
            "agents", WARNING, "there is no home directory in which agents could be found", "export HOME=…"
        )
        return
    displays = {agent.name: agent.display for agent in read_agents()}
    names = []
    for name, folder in detect_targets(GLOBAL, place.cwd):
        names.append(name)
        target = folder if os.path.lexists(folder) else os.path.dirname(folder)
        if not os.path.isdir(target):
            yield Check("agents", WARNING, f"'{short(target)}' of {displays[name]} is no directory")
        elif not os.access(target, os.W_OK | os.X_OK):
            text = f"'{short(target)}' of {displays[name]} can't be written"
            yield Check("agents", WARNING, text, f"chmod u+rwx {shell_quote(target)}")
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    summary = f"found {', '.join(names[:MAX_NAMES])}{more}" if names else "no agent has a directory here"
    yield Check("agents", OK, summary)


def check_servers(place: Place) -> Iterator[Check]:
    """Check that the programs exist that agents' configurations start for `skc mcp`."""
    registrations = find_registrations(place.cwd)
    for entry in registrations:
        words = f"{entry.agent}{' --project' if entry.is_project else ''}"
        force = "" if entry.is_ours else " --force"
        fix = f"skc mcp --uninstall {words}{force} && skc mcp --install {words}"
        if not entry.program:
            yield Check(
                "mcp", WARNING, f"the entry of skillc in '{short(entry.path)}' starts no program", fix
            )
        elif os.path.isabs(entry.program) and not os.access(entry.program, os.X_OK):
            text = f"'{short(entry.path)}' starts '{short(entry.program)}', which does not exist any more"
            yield Check("mcp", ERROR, text, fix)
    if not registrations:
        yield Check("mcp", OK, "no agent is configured to start 'skc mcp'")
    else:
        yield Check("mcp", OK, f"'skc mcp' is in {count_of(len(registrations), 'configuration')}")


def check_links(place: Place) -> Iterator[Check]:
    """Find links in agents' directories that lead nowhere; ours are safe to remove."""
    records = {record.path: record for record in read_deployments()}
    references = {skill.segment: skill.reference for skill in stored_skills(place.cwd)}
    links = 0
    for directory in agent_directories(place.cwd):
        for name in list_names(directory):
            path = os.path.join(directory, name)
            links += os.path.islink(path)
            if not os.path.islink(path) or os.path.exists(path):
                continue
            record = records.get(path)
            if record is not None and record.is_ghost:
                continue  # a check of its own
            target = os.path.join(directory, os.readlink(path))
            text = f"'{short(path)}' is a link to '{short(target)}', which does not exist"
            if record is not None and dangling.inspect_deployment(record) == dangling.LINK:
                mend = partial(redeploy, record, place.cwd)
                yield Check("links", WARNING, text, build_command(record.source, [record]), mend)
            elif name in references:
                yield Check("links", WARNING, text, f"skc build {shell_quote(references[name])}")
            elif paths.is_own_runtime(os.path.normpath(target)):
                yield Check("links", WARNING, text, f"rm {shell_quote(path)}", partial(unlink, path))
            else:
                yield Check("links", WARNING, f"{text}; skc did not make it", f"rm {shell_quote(path)}")
    yield Check("links", OK, f"{count_of(links, 'link')} in agents' directories")


def check_ghosts(place: Place) -> Iterator[Check]:
    """Find deployments whose source is gone [D51]."""
    for waste in dangling.find_ghost_deployments():
        if os.path.lexists(waste.path):
            text = f"'{short(waste.path)}' is deployed, but its source '{short(waste.origin)}' is gone"
            yield Check("ghosts", WARNING, text, "skc clean", partial(discard, waste))
    yield Check("ghosts", OK, "the sources of all deployments are there")


def check_deployments(place: Place) -> Iterator[Check]:
    """Find deployments that are gone, were replaced or edited, or are older than their build."""
    records = [record for record in read_deployments() if os.path.isdir(record.source)]
    for record in records:
        state = dangling.inspect_deployment(record)
        build = build_command(record.source, [record])
        force = build_command(record.source, [record], force=True)
        what = f"'{short(record.path)}', which was deployed for '{record.skill}',"
        if state == dangling.GONE and os.path.isdir(os.path.dirname(record.path)):
            yield Check("deployments", WARNING, f"{what} is not there any more", build)
        elif state == dangling.OTHER:
            text = f"{what} is something else now; --force moves that to the trash"
            yield Check("deployments", WARNING, text, force)
        elif state == dangling.EDITED:
            text = f"{what} was edited there; --force moves that to the trash and deploys again"
            yield Check("deployments", WARNING, text, force)
        elif state == dangling.FOLDER and _is_older(record):
            yield Check(
                "deployments",
                WARNING,
                f"{what} is of an older build",
                build,
                partial(redeploy, record, place.cwd),
            )
    yield Check("deployments", OK, f"{count_of(len(records), 'deployment')} as they were made")


def _is_older(record: DeploymentRecord) -> bool:
    """Return whether a deployed copy has another manifest than the build."""
    try:
        files = [paths.manifest_file(folder) for folder in (record.path, record.runtime)]
        one, two = (paths.read_regular(path, 1 << 20) for path in files)
    except OSError:
        return False
    return one != two
