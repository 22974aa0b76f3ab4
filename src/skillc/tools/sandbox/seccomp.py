"""The seccomp filter: the system calls that a sandboxed command is refused.

Internet sockets are allowed only with a network, and sockets of this machine never: through those,
daemons do whatever they are asked. The numbers are x86_64's and aarch64's.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterable, Mapping

# The tables: each system call with its numbers. fmt: off keeps several on a line.
# fmt: off
# What no command needs, and what would reach other processes, the kernel or the sandbox itself.
REFUSED = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "kcmp": (312, 272), "pidfd_getfd": (438, 438),
    "perf_event_open": (298, 241), "bpf": (321, 280), "userfaultfd": (323, 282), "keyctl": (250, 219),
    "add_key": (248, 217), "request_key": (249, 218), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "move_mount": (429, 429), "open_tree": (428, 428),
    "open_tree_attr": (467, 467), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "setns": (308, 268), "unshare": (272, 97),
    "open_by_handle_at": (304, 265), "reboot": (169, 142), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "sethostname": (170, 161), "setdomainname": (171, 162),
    "syslog": (103, 116), "iopl": (172, None), "ioperm": (173, None), "vhangup": (153, 58),
    "fanotify_init": (300, 262),
    # Memory and queues that processes share by number or name, which no limit counts.
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "msgget": (68, 186),
    "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187), "semget": (64, 190),
    "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192), "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
# Answered as if the kernel did not have them: programs then take the older calls, which can be checked,
# and files in /dev/shm or /tmp in place of memory without a name.
UNKNOWN = {
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "clone3": (435, 435), "memfd_create": (319, 279), "memfd_secret": (447, 447),
}
# What Landlock does not cover: a file's mode, owner and attributes.
METADATA = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "removexattrat": (466, 466), "file_setattr": (469, 469),
}
# Nor a file's times. These do nothing and report no error, or "touch" would fail on a file that it made.
TIMES = {
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
}
# fmt: on
CLONE, IOCTL, SOCKET, SOCKETPAIR, PRLIMIT = (56, 220), (16, 29), (41, 198), (53, 199), (302, 261)

NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
TERMINAL = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX type into the user's terminal
INTERNET = (2, 10, 16)  # AF_INET, AF_INET6, and AF_NETLINK, by which names of hosts are looked up
CONNECTED = (1, 5)  # SOCK_STREAM and SOCK_SEQPACKET: a pair of these can't be sent elsewhere

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # which numbers, and AUDIT_ARCH

_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


def is_supported() -> bool:
    """Return whether the tables have the numbers of this machine's system calls."""
    return platform.machine() in MACHINES


def build_filter(*, network: bool, alone: bool, read_only: bool) -> bytes:
    """Return the filter. With `alone` there are no namespaces, so it refuses what they would separate."""
    column, architecture = MACHINES[platform.machine()]

    def numbers(table: Mapping[str, tuple[int, int | None]]) -> list[int]:
        return [pair[column] for pair in table.values() if pair[column] is not None]  # type: ignore[misc]

    calls = REFUSED | (METADATA if alone and read_only else {})
    load = [(_LOAD, 0, 0, _ARGUMENTS + 8 * number) for number in (0, 1)]  # the low half; it comes first
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        *([(_AT_LEAST, 0, 1, 0x40000000), _refuse(errno.ENOSYS)] if column == 0 else []),  # the x32 calls
    ]
    code += _each(numbers(calls), errno.EPERM)
    code += _each(numbers(TIMES) if alone and read_only else (), 0)
    code += _each(numbers(UNKNOWN), errno.ENOSYS)
    code += _refuse_if(SOCKET[column], [load[0], *_skip_if(INTERNET if network else ())], errno.EACCES)
    is_local = (_EQUAL, 0, 2 + len(CONNECTED), 1)  # AF_UNIX
    pair = [load[0], is_local, load[1], (_AND, 0, 0, 0xF), *_skip_if(CONNECTED)]
    code += _refuse_if(SOCKETPAIR[column], pair, errno.EACCES)
    code += _refuse_if(CLONE[column], [load[0], (_ANY_BIT, 0, 1, NEW_NAMESPACES)])
    for request in TERMINAL:
        code += _refuse_if(IOCTL[column], [load[1], (_EQUAL, 0, 1, request)])
    code += _refuse_if(PRLIMIT[column], [load[0], (_EQUAL, 1, 0, 0)])  # of others
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _refuse(error: int) -> Instruction:
    return (_RETURN, 0, 0, _ERRNO | error)


def _each(numbers: Iterable[int], error: int) -> list[Instruction]:
    return [part for number in numbers for part in ((_EQUAL, 0, 1, number), _refuse(error))]


def _refuse_if(number: int, test: list[Instruction], error: int = errno.EPERM) -> list[Instruction]:
    """Refuse call `number` where `test` falls through to the next instruction."""
    body = [*test, _refuse(error), (_LOAD, 0, 0, _NUMBER)]
    return [(_EQUAL, 0, len(body), number), *body]


def _skip_if(values: tuple[int, ...]) -> list[Instruction]:
    """Skip the refusal that follows where the argument is one of these."""
    return [(_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
