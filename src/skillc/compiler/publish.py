"""A skill from wherever it lies to the agents that read it: imported, built and deployed in one go."""

from __future__ import annotations

from skillc.compiler.build import build_skill
from skillc.compiler.deploy import deploy_skill
from skillc.compiler.importer import import_skill
from skillc.errors import SkillcError, unexpected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from skillc.compiler.agents import Target
    from skillc.compiler.build import Built
    from skillc.compiler.deploy import Deployment
    from skillc.library import Skill
    from skillc.settings import Config


class Published:
    """A skill that was built, and how each of its deployments went."""

    __slots__ = ("built", "deployed", "failed")

    def __init__(self, built: Built, deployed: list[Deployment], failed: list[SkillcError]) -> None:
        self.built = built
        self.deployed = deployed
        self.failed = failed

    def as_json(self) -> dict[str, Any]:
        return {
            "skill": self.built.skill.name,
            "status": self.built.status,
            "source_path": self.built.skill.source,
            "runtime_path": self.built.runtime,
            "source_hash": self.built.source_hash,
            "files": self.built.files,
            "changed": self.built.changed,
            "deployments": [{"target": d.target, "path": d.path, "method": d.method} for d in self.deployed],
            "warnings": [d.line() for d in self.built.diagnostics],
        }

    def report(self) -> str:
        """The same for people."""
        from skillc.text import one_line

        built = self.built
        files = f"{built.files} file{'' if built.files == 1 else 's'}"
        detail = files if built.status == "unchanged" else f"{files}, {built.changed} changed"
        lines = [f"{built.status.capitalize()} '{built.skill.name}' ({detail}) in {built.runtime}"]
        lines += [f"  {d.target}: {d.path} ({d.method})" for d in self.deployed]
        return "\n".join(map(one_line, lines))


class Publisher:
    """What is asked for, for any skill. `progress` hears of every file that is read, and may raise."""

    def __init__(
        self,
        config: Config,
        cwd: str,
        targets: Sequence[Target],
        *,
        to_global: bool = False,
        copy: bool = False,
        force: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.config = config
        self.cwd = cwd
        self.targets = targets
        self.to_global = to_global
        self.copy = copy
        self.force = force
        self.progress = progress
        self.imported: set[str] = set()

    def run(self, skill: Skill, *, to_agents: bool = True) -> Published:
        """Import, build and deploy one skill; a target that fails does not keep it from the others."""
        if not skill.is_stored:
            again = skill.source in self.imported  # --watch: the folder changed, and its copy follows
            folder = skill.source
            skill = import_skill(skill, self.cwd, force=self.force or again)
            self.imported.add(folder)
        built = build_skill(
            skill,
            tokenizer=self.config.tokenizer,
            formats=self.config.formats,
            to_global=self.to_global,
            force=self.force,
            progress=self.progress,
        )
        deployed: list[Deployment] = []
        failed: list[SkillcError] = []
        for target in self.targets if to_agents else ():
            try:
                deployed.append(deploy_skill(skill, built.runtime, target, copy=self.copy, force=self.force))
            except (SkillcError, OSError) as error:
                failed.append(unexpected(error))
        return Published(built, deployed, failed)
