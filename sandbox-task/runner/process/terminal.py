"""The terminal of one process: Node has no pseudo-terminals, so this program holds one for it.

terminal.py <cols> <rows> <program> [<argument> ...]

Stdin is what is typed, its end types Ctrl-D; stdout is what the terminal shows. Descriptor 3 takes lines: "size <cols>
<rows>" and "signal <number>", which goes to the group in the foreground. It ends as the program ends.
"""

import errno
import fcntl
import os
import select
import signal
import struct
import sys
import termios

CHUNK = 65536
END_OF_INPUT = b"\x04"


def set_size(terminal, cols, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def start(cols, rows, argv):
    """The child waits for the size: a program reads it once at its start."""
    ready, go = os.pipe()
    pid, terminal = os.forkpty()
    if pid == 0:
        os.close(go)
        os.read(ready, 1)
        os.close(3)
        # Python ignores these, and an ignored signal stays ignored in the program.
        for name in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(name, signal.SIG_DFL)
        try:
            os.execvp(argv[0], argv)
        except OSError as error:
            os.write(2, f"{argv[0]}: {error.strerror}\r\n".encode())
            os._exit(126 if error.errno == errno.EACCES else 127)
    os.close(ready)
    set_size(terminal, cols, rows)
    os.write(go, b"\0")
    os.close(go)
    return pid, terminal


def obey(line, terminal):
    words = line.split()
    try:
        if words[:1] == [b"size"]:
            set_size(terminal, int(words[1]), int(words[2]))
        elif words[:1] == [b"signal"]:
            os.killpg(os.tcgetpgrp(terminal), int(words[1]))
    except OSError:
        pass  # The group has just ended.


def show(data):
    while data:
        data = data[os.write(1, data) :]


def read_or_nothing(descriptor):
    """Nothing at the end: Linux answers EIO when no process holds the other side of a terminal any more."""
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


class Session:
    def __init__(self, terminal):
        self.terminal = terminal
        self.typed = b""
        self.commands = b""
        self.has_input = True
        self.has_commands = True
        self.is_closed = False

    def step(self, child_ended):
        readers = [self.terminal]
        if self.has_input and not self.typed:
            readers.append(0)
        if self.has_commands:
            readers.append(3)
        writers = [self.terminal] if self.typed else []
        readable, writable, _ = select.select(readers + [child_ended], writers, [])
        if 3 in readable:
            self.take_commands()
        if 0 in readable:
            data = read_or_nothing(0)
            self.has_input = data != b""
            self.typed = END_OF_INPUT if data == b"" else data or b""
        if writable:
            self.type()
        if self.terminal in readable:
            data = read_or_nothing(self.terminal)
            self.is_closed = data == b""
            show(data or b"")

    def take_commands(self):
        data = read_or_nothing(3)
        self.has_commands = data != b""
        *lines, self.commands = (self.commands + (data or b"")).split(b"\n")
        for line in lines:
            obey(line, self.terminal)

    def type(self):
        try:
            self.typed = self.typed[os.write(self.terminal, self.typed) :]
        except BlockingIOError:
            pass
        except OSError:
            self.typed = b""

    def show_rest(self):
        """What the program wrote before it ended; a process that it left behind is not waited for."""
        while True:
            data = read_or_nothing(self.terminal)
            if not data:
                return
            show(data)


def end_as(status):
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        os._exit(code)
    if -code not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)


def main():
    cols, rows, *argv = sys.argv[1:]
    child_ended, notice = os.pipe()
    os.set_blocking(notice, False)
    os.set_blocking(child_ended, False)
    signal.set_wakeup_fd(notice, warn_on_full_buffer=False)
    pid, terminal = start(int(cols), int(rows), argv)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    os.set_blocking(terminal, False)
    session = Session(terminal)
    # It may have ended before the handler was set.
    ended, status = os.waitpid(pid, os.WNOHANG)
    while ended == 0:
        session.step(child_ended)
        read_or_nothing(child_ended)
        # A program that has let go of its terminal shows nothing more: only its end is left.
        ended, status = os.waitpid(pid, 0 if session.is_closed else os.WNOHANG)
    session.show_rest()
    end_as(status)


main()
