"""`skc build`: compile a skill and put it where agents look."""

from __future__ import annotations

from skillc import compiler, install, library
from skillc.cli import print_lines, show, workspace
from skillc.cli.syntax import Arguments, Command
from skillc.cli.watch import watch
from skillc.text import count_of

COMMAND = Command("""
skc build

A folder outside of all stores is first copied into the project's store, or into ~/.skillc/skills if there is
no project. Building it again copies its changes, unless the copy was edited too.

A rebuild reads only what changed.

[skill] :skills  A skill's name, its ID in a repository, or a folder to import.
--all  Build every skill in the project's stores and the global store.
--target <a,b> :agents  Agents or paths to deploy to, separated by commas. Default: where the skill is
    deployed, else claude, or '[agents] default' of ~/.skillc/config.toml.
--deploy user|project  Deploy to the agents' user or project directories. Default: user.
--global  Write the compiled skill to ~/.skillc/runtime.
--copy  Deploy a copy instead of a link.
--force  Rebuild everything, and replace an existing skill or deploy target.
--watch  Rebuild whenever a file changes, until interrupted.

$ skc build pdf
$ skc build ./my-skill --target claude,cursor
$ skc build --all
$ skc build pdf --target ./agent/skills --copy
""")


def run(arguments: Arguments) -> int:
    name = arguments.optional("skill")
    if (name is None) != arguments.has("all"):
        problem = "--all takes no <skill>" if name else "<skill> is missing; give one, or --all"
        raise arguments.error(f"{problem}")
    here = workspace(steps=True)
    options = here.publish_options(
        arguments.optional("target"),
        arguments.optional("deploy"),
        to_global=arguments.has("global"),
        copy=arguments.has("copy"),
        force=arguments.has("force"),
    )
    if arguments.has("watch"):
        return watch(
            lambda: (
                list(library.stored_skills(here.cwd)) if name is None else [here.locate(name, index=False)]
            ),
            lambda skill: _show(arguments, here.build(skill, options)),
        )
    if name is None:
        status = _show_all(arguments, here.cwd, here.build_all(options))
    else:
        status = _show(arguments, here.build(here.locate(name, index=False), options))
    if here.is_at_terminal and not arguments.as_json:
        print_lines(install.advise_foreign(here.cwd))
    return status


def _show(arguments: Arguments, publication: compiler.Publication) -> int:
    show(arguments, publication, [publication.report()])
    return 1 if publication.failures else 0


def _show_all(arguments: Arguments, cwd: str, result: compiler.Builds) -> int:
    skills = f"{len(result.built)} of {count_of(result.total, 'skill')}"
    line = f"{skills} built ({result.unchanged} unchanged), {result.failures} failed"
    show(arguments, result, [line if result.total else " ".join(install.advise_foreign(cwd, is_first=True))])
    return 1 if result.failures else 0
