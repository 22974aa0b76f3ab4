"""A systemd of its own, as process 1 of namespaces: a system on which units can be started.

Its files are those of this machine below a layer in memory, so that nothing outside changes. It has a network
of its own with nothing but loopback, and may change neither the kernel's settings nor its devices.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SYSTEMD = Path("/lib/systemd/systemd")
NAMESPACES = ("--mount", "--pid", "--cgroup", "--net", "--uts", "--ipc")
SOURCE = Path(__file__).parent.parent.parent / "src"

# $1 is a folder, $2 the Python, $3 its packages, $4 our source.
BOOT = """
set -eu
mount --make-rprivate /
mount -t tmpfs -o mode=0755 tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
mkdir -p opt/python opt/packages opt/source
mount --bind "$2" opt/python
mount --bind "$3" opt/packages
mount --bind "$4" opt/source
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=0755 tmpfs dev
for name in null zero full random urandom tty; do touch dev/$name; mount --bind /dev/$name dev/$name; done
mkdir dev/shm dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
touch dev/console
mount -t tmpfs -o mode=0755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
rm -f etc/machine-id
: > etc/machine-id
ip link set lo up
mkdir run/old
pivot_root . run/old
umount -l /run/old
rmdir /run/old
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --system --unit=basic.target --show-status=no
"""

# A Python that the user of a service can run, wherever that of the tests is.
SKC = f"""#!/bin/sh
export PYTHONPATH=/opt/source:/opt/packages LD_LIBRARY_PATH=/opt/python/lib PYTHONDONTWRITEBYTECODE=1
exec /opt/python/bin/python{sys.version_info[0]}.{sys.version_info[1]} -m skillc "$@"
"""


class System:
    """A system that runs; `pid` is its process 1 as seen from here."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.root = Path(f"/proc/{pid}/root")

    def run(self, *words: str, check: bool = True, text: str = "") -> str:
        """Return what a command prints that runs there."""
        command = ["nsenter", "--target", str(self.pid), "--all", *words]
        result = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=90, check=False, cwd="/"
        )
        assert not check or result.returncode == 0, (words, result.stdout, result.stderr)
        return result.stdout.strip()

    def property(self, unit: str, name: str) -> str:
        return self.run("systemctl", "show", unit, "--property", name, "--value")

    def wait(self, unit: str, name: str, value: str) -> None:
        """Wait until a property of a unit has a value."""
        for _ in range(400):
            if (found := self.property(unit, name)) == value:
                return
            time.sleep(0.1)
        raise AssertionError((unit, name, found, self.run("journalctl", "--unit", unit, "--no-pager")))


@contextmanager
def booted(folder: Path) -> Iterator[System]:
    """A system that has started, with `skc` at /opt/skillc/bin; skips where there can't be one."""
    group = _make_group()
    stage = folder / "stage"
    stage.mkdir()
    packages = sysconfig.get_path("purelib")
    words = ["sh", "-c", BOOT, "boot", str(stage), sys.base_prefix, packages, str(SOURCE)]
    enter = 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"'
    command = [
        "sh",
        "-c",
        enter,
        "enter",
        str(group),
        "unshare",
        *NAMESPACES,
        "--fork",
        "--kill-child",
        *words,
    ]
    with (folder / "boot.log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield _wait(process, folder / "boot.log")
    finally:
        process.kill()
        process.wait()
        _remove_group(group)


def _make_group() -> Path:
    """Return a new control group for the system; skips without the rights and programs for one."""
    if os.name != "posix" or os.geteuid() != 0 or not SYSTEMD.exists():
        pytest.skip("needs root, and Debian's systemd")
    if not all(map(shutil.which, ("unshare", "nsenter", "pivot_root", "ip", "useradd"))):
        pytest.skip("needs util-linux, iproute2 and passwd")
    if subprocess.run(
        ["unshare", *NAMESPACES, "--fork", "true"], capture_output=True, check=False
    ).returncode:
        pytest.skip("namespaces are not allowed here")
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    top = next((Path(mount[1]) for mount in mounts if mount[2] == "cgroup2"), None)
    if top is None:
        pytest.skip("there is no cgroup2")
    group = top / f"skillc-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    return group


def _remove_group(group: Path) -> None:
    for _ in range(100):
        for folder, _, _ in os.walk(group, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                break
        else:
            return
        time.sleep(0.1)


def _wait(process: subprocess.Popen[bytes], log: Path) -> System:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    for _ in range(300):
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
        if not (found := children.read_text().split()):
            continue
        system = System(int(found[0]))
        if Path(f"/proc/{system.pid}/comm").read_text() != "systemd\n":
            continue
        if system.run("systemctl", "is-system-running", check=False) in ("running", "degraded"):
            program = system.root / "opt" / "skillc" / "bin" / "skc"
            program.parent.mkdir(parents=True)
            program.write_text(SKC)
            program.chmod(0o755)
            return system
    raise AssertionError(f"systemd does not start: {log.read_text()}")
