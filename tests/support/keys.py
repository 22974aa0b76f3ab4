"""Make SSH keys by the real ssh-keygen."""

from __future__ import annotations

import subprocess
from pathlib import Path


def make_ssh_key(folder: Path, who: str = "alice@example.com") -> Path:
    """Make an SSH key and a file of allowed signers that has it; return the key."""
    folder.mkdir(exist_ok=True)
    key = folder / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key, "-C", who], check=True)
    (folder / "allowed").write_text(f"{who} {(folder / 'id.pub').read_text()}")
    return key
