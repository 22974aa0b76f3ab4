"""Git over ssh, which is the program `ssh`."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import IO, Any

from dulwich.client import SSHGitClient, SubprocessSSHVendor, SubprocessWrapper
from dulwich.protocol import Protocol

from skillc.library.git.errors import FetchFailed
from skillc.library.git.limits import Greeting, Watch
from skillc.library.git.remote import Remote


def ssh_client(remote: Remote, watch: Watch, greeting: Greeting) -> SSHGitClient:
    if remote.passphrase:
        raise FetchFailed("the program 'ssh' can't be given a passphrase; add the key to ssh-agent")
    command = "ssh -o BatchMode=yes" + (" -o IdentitiesOnly=yes" if remote.key else "")  # it must not ask
    client = _SshClient(
        remote.host,
        port=remote.port,
        username=remote.username,
        vendor=_Vendor(watch),
        key_filename=remote.key,
        ssh_command=command,
        thin_packs=False,
        report_activity=lambda count, what: greeting.heard(count) if what == "read" else None,
    )
    client.watch = watch
    return client


class _SshClient(SSHGitClient):
    """Closes its connection in the end, also where dulwich forgets to."""

    watch: Watch

    def _connect(
        self, cmd: bytes, path: str | bytes, protocol_version: int | None = None
    ) -> tuple[Protocol, Callable[[], bool], IO[bytes] | None]:
        connected = super()._connect(cmd, path, protocol_version)
        self.watch.guard(lambda: None, connected[0].close)
        return connected


class _Vendor(SubprocessSSHVendor):
    """The ssh program, ended when the watch says so."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def run_command(self, *arguments: Any, **options: Any) -> SubprocessWrapper:
        try:
            wrapper = super().run_command(*arguments, **options)
        except FileNotFoundError:
            raise FetchFailed("ssh addresses need the program 'ssh', which is not installed") from None
        self._watch.guard(wrapper.proc.kill, lambda: _ended(wrapper.proc))
        return wrapper


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout, process.stderr):
        try:
            if pipe is not None:
                pipe.close()
        except OSError:
            pass  # what was not sent needn't be
    process.wait()
