"""System calls that no answer to an exercise needs, refused by the kernel inside the jail.

The namespaces of bubblewrap hide files, processes and the network, and limits bound the rest; this
filter closes what neither reaches: memory that no process owns (``memfd_create``, System V), name
spaces within the jail, tracing, the keyring, and parts of the kernel that are often attacked. It is
a classic BPF program for seccomp, assembled here; see ``man 2 seccomp``.
"""

from __future__ import annotations

import platform
import struct

# what: (number on x86-64, number on aarch64); 9999 where there is none
NUMBERS = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194),
    "shmat": (30, 196), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "socket": (41, 198), "socketpair": (53, 199), "unshare": (272, 97), "setns": (308, 268),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "mount_setattr": (442, 442), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "init_module": (175, 105), "finit_module": (313, 273),
    "kexec_load": (246, 104), "personality": (135, 92), "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264), "pidfd_getfd": (438, 438), "fanotify_init": (300, 262),
    "inotify_init1": (294, 26), "vmsplice": (278, 75), "quotactl": (179, 60), "acct": (163, 89),
    "swapon": (167, 224), "reboot": (169, 142), "settimeofday": (164, 170),
}  # fmt: skip
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
EPERM, ENOSYS = 1, 38
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
CLONE = {"x86_64": 56, "aarch64": 220}
CLONE3 = 435
NEW_USER = 0x10000000


def program(machine: str | None = None) -> bytes | None:
    """The filter as the kernel reads it, or None for a processor that it is not written for.

    Examples
    --------
    >>> len(program("x86_64")) % 8, program("pdp11")
    (0, None)
    """
    machine = machine or platform.machine()
    if machine not in MACHINES:
        return None
    audit, column = MACHINES[machine]

    def step(code: int, k: int, then: int = 0, otherwise: int = 0) -> bytes:
        return struct.pack("<HBBI", code, then, otherwise, k)

    refuse = step(RETURN, ERRNO | EPERM)
    lines = [step(LOAD, 4), step(EQUAL, audit, 1, 0), step(RETURN, KILL), step(LOAD, 0)]
    if machine == "x86_64":  # the x32 numbers are the same calls under other names
        lines += [step(AT_LEAST, 0x40000000, 0, 1), refuse]
    for numbers in NUMBERS.values():
        lines += [step(EQUAL, numbers[column], 0, 1), refuse]
    # glibc makes threads by clone where clone3, whose flags a filter cannot read, is unknown
    lines += [step(EQUAL, CLONE3, 0, 1), step(RETURN, ERRNO | ENOSYS)]
    lines += [step(EQUAL, CLONE[machine], 0, 3), step(LOAD, 16)]
    lines += [step(0x45, NEW_USER, 0, 1), refuse]  # 0x45: any of these bits
    return b"".join([*lines, step(RETURN, ALLOW)])
