"""Fetch git repositories without a git program."""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.remotes.git.address import GitRemote, find_unused_tokens
    from skillc.remotes.git.checkouts import Checkouts, GitRef, GitSkillConfig, HttpsToken, SshKey
    from skillc.remotes.git.fetch import open_tree
    from skillc.remotes.git.tree import RemoteTree
else:
    __getattr__, __all__ = front_door(__name__)
