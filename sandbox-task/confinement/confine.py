"""Starts a program of the user's side under the system call filter where no bubblewrap installs it.

    confine.py <folder of the filters> <program> [argument ...]

It closes every descriptor above 3, the runner's pipe; the launcher may have been given others. Nothing starts
where the filter cannot be installed. Standard library only.
"""
import ctypes
import os
import sys

PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2
INSTRUCTION_BYTES = 8
CHANNEL = 3


class Program(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = [('length', ctypes.c_ushort), ('instructions', ctypes.c_void_p)]


def install(code):
    libc = ctypes.CDLL(None, use_errno=True)
    instructions = ctypes.create_string_buffer(code, len(code))
    program = Program(len(code) // INSTRUCTION_BYTES, ctypes.addressof(instructions))
    steps = [
        (PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), ctypes.c_ulong(0)),
        (PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), ctypes.byref(program)),
    ]
    for option, first, second in steps:
        if libc.prctl(option, first, second, ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
            sys.exit(f'no system call filter: prctl {option} gives {os.strerror(ctypes.get_errno())}')


def main():
    folder, program, *arguments = sys.argv[1:]
    with open(os.path.join(folder, f'user-{os.uname().machine}.bpf'), 'rb') as file:
        code = file.read()
    os.closerange(CHANNEL + 1, os.sysconf('SC_OPEN_MAX'))
    install(code)
    os.execv(program, [program, *arguments])


main()
