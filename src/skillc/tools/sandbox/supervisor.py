"""The process between skc and a command under Landlock: confine it, watch it, and end all of it.

Handed to `python -I -S` as code, so it imports nothing of skillc and starts fast. It exists because
rules for a child have to be set in the child, and running Python between fork and exec is not safe in
a program that has threads; here there are none. As the reaper of all orphans below it, it finds every
process of the command, whatever session or group that moved to.

It gets a plan and two descriptors: one to write a line to (`setup`, `exec` or `exit`, and a number or
text), and a pipe whose other end skc holds: when that is closed, or skc is gone, everything is killed.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import struct
import time

TYPE_CHECKING = False  # typing, and signal with its enums, would take longer than everything else here
if TYPE_CHECKING:
    from typing import Any, NoReturn

SIGKILL, SIGPIPE, SIGSTOP, SIGXFSZ = 9, 13, 19, 25
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
SECCOMP_MODE_FILTER = 2
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # on every machine
CAPSET = {"x86_64": 126, "aarch64": 91}
TICK = 0.2  # seconds between looks for orphans that have ended

libc = ctypes.CDLL(None, use_errno=True)


def call(what: str, *arguments: int | bytes) -> int:
    """Make a system call by number, or prctl; the error names it."""
    wide = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    result = int((libc.prctl if what == "prctl" else libc.syscall)(*wide))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}{arguments[:1]}: {os.strerror(ctypes.get_errno())}")
    return result


def confine(plan: dict[str, Any]) -> None:
    """Set limits, drop privileges, then Landlock, then seccomp: each forbids what the ones before it need."""
    for kind, value in plan["limits"]:
        resource.setrlimit(kind, (value, value))
    drop_capabilities()
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    ruleset = landlock(plan)
    call("restrict_self", RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    code = ctypes.create_string_buffer(plan["seccomp"])
    filter_ = struct.pack("@HP", len(plan["seccomp"]) // 8, ctypes.addressof(code))
    call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter_)


def drop_capabilities() -> None:
    """Drop all capabilities, of root too, for good."""
    if os.geteuid() == 0:
        for capability in range(64):
            if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
                break
    header = struct.pack("=Ii", 0x20080522, 0)
    call("capset", CAPSET[os.uname().machine], header, bytes(24))


def landlock(plan: dict[str, Any]) -> int:
    """Return a ruleset that refuses everything but what the plan opens."""
    attributes = struct.pack("=QQQ", *plan["restrictions"])[: plan["size"]]
    ruleset = call("create_ruleset", CREATE_RULESET, attributes, len(attributes), 0)
    for path, for_directory, for_file in plan["rules"]:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # it is gone
        rights = for_directory if os.path.isdir(path) else for_file
        call("add_rule", ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, descriptor), 0)
        os.close(descriptor)
    return ruleset


def become(plan: dict[str, Any], status: int, supervisor: int) -> NoReturn:
    """Confine this process, the child, and become the command."""
    stage = "setup"
    try:
        os.setsid()
        call("prctl", PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:
            os._exit(1)
        for number in (SIGPIPE, SIGXFSZ):  # which Python had set to be ignored
            libc.signal(number, None)
        os.chdir(plan["cwd"])
        write("/proc/self/oom_score_adj", b"1000")  # where memory runs out, the command is the first to go
        write(plan["members"], b"0")  # of its control group; 0 is this process
        confine(plan)
        stage = "exec"
        os.execve(plan["argv"][0], plan["argv"], plan["env"])  # noqa: S606 - what it is for
    except OSError as error:
        text = f"exec {error.errno}\n" if stage == "exec" else f"setup {error.strerror}\n"
        os.write(status, text.encode())
    finally:
        os._exit(1)


def write(path: str, data: bytes) -> None:
    """Write to a file of the kernel, if it is there and can be written."""
    try:
        with open(path, "wb", buffering=0) as file:
            file.write(data)
    except OSError:
        pass


def descendants(pid: int) -> set[int]:
    """Return all processes below `pid`, by the parents in /proc."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] != b"Z":
                parents.setdefault(int(fields[1]), []).append(int(name))
    pids, queue = set[int](), [pid]
    while queue:
        children = parents.get(queue.pop(), [])
        pids.update(children)
        queue += children
    return pids


def send(pids: set[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass


def kill_all() -> None:
    """Stop all processes until no new one appears, then kill them; repeat while any is left."""
    while _has_children():
        pids = set[int]()
        while new := descendants(os.getpid()) - pids:
            send(new, SIGSTOP)
            pids |= new
        send(pids, SIGKILL)
        time.sleep(0.002)


def _has_children() -> bool:
    """Reap the children that have ended; return whether any are left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def watch(child: int, control: int) -> int | None:
    """Return the command's status once it ended; None when skc closed the pipe, or is gone."""
    poll = select.poll()  # not select, whose descriptors end at 1024
    poll.register(control, select.POLLIN)
    poll.register(os.pidfd_open(child), select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poll.poll(TICK * 1000)]
        while (child_status := os.waitpid(-1, os.WNOHANG))[0]:
            if child_status[0] == child:
                return os.waitstatus_to_exitcode(child_status[1])
        if control in ready:
            return None


def main(plan: dict[str, Any], status: int, control: int) -> None:
    for descriptor in (status, control):
        os.set_inheritable(descriptor, False)
    call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        become(plan, status, supervisor)
    for descriptor in (1, 2):  # only the command holds the pipes of its output
        os.close(descriptor)
    code = watch(child, control)
    try:
        if code is not None:
            os.write(status, f"exit {code}\n".encode())
    except OSError:  # skc is gone
        pass
    kill_all()
    for directory in (plan["env"]["HOME"], plan["env"]["TMPDIR"]):
        try:
            os.rmdir(directory)  # skc removes what is not empty
        except OSError:
            pass
    os._exit(0)  # there is nothing else to clean up
