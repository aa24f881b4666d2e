"""The Python interpreter of a sandbox: runs one piece of code after another in one `__main__`.

The value of the last expression is a result, unless a semicolon follows it, and is `_` afterwards.

It speaks frames (wire/frame.ts) with the runner over descriptor 3 and hides nothing from the code it runs: code
that writes there itself lies about its own sandbox only (docs/spec/sandbox.md, W9 and W12). Output is all that
reaches descriptors 1 and 2 between two marks of the runner. Standard library only.
"""
import __future__
import ast
import builtins
import contextlib
import ctypes
import json
import linecache
import os
import re
import select
import signal
import struct
import sys
import threading
import types

import sallyport_charts
import sallyport_imports
import sallyport_results
from sallyport_errors import final_line, hidden_files, print_error, print_refusal, report

CHANNEL = 3
# How much source is kept so that tracebacks can show lines of earlier calls.
KEPT_SOURCE_CHARACTERS_MAX = 4_000_000

channel_lock = threading.Lock()
libc = ctypes.CDLL(None)
driver_pid = os.getpid()
hidden_files.update((__file__, sallyport_charts.__file__, sallyport_imports.__file__, sallyport_results.__file__))
is_running = False
is_sending = False
loop = None
sources = []
features = 0


def send(header, payload=b''):
    global is_sending
    head = json.dumps(header).encode()
    frame = memoryview(struct.pack('>II', len(head), len(payload)) + head + payload)
    with channel_lock:
        is_sending = True
        try:
            while frame:
                frame = frame[os.write(CHANNEL, frame):]
        finally:
            is_sending = False


def receive(count):
    data = bytearray()
    while len(data) < count:
        piece = os.read(CHANNEL, count - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return bytes(data)


def receive_frame():
    head, payload = struct.unpack('>II', receive(8))
    return json.loads(receive(head)), receive(payload)


def show_figures(pyplot):
    for number in pyplot.get_fignums():
        emit(sallyport_results.bundle_of(pyplot.figure(number)))
    pyplot.close('all')


def show_changed_figures():
    """Open figures that changed since they were shown. They stay open for the next call."""
    pyplot = sys.modules.get('matplotlib.pyplot')
    for number in pyplot.get_fignums() if pyplot else []:
        figure = pyplot.figure(number)
        if getattr(figure, 'stale', False) and figure.get_axes():
            emit(sallyport_results.bundle_of(figure))


def on_interrupt(signal_number, frame):
    # Half a frame would end the process. The runner interrupts again.
    if is_running and not is_sending:
        raise KeyboardInterrupt


def run(code, name):
    """Gives the exit code and the final line of the error."""
    global is_running
    try:
        compiled = compile_code(code, name)
    except (SyntaxError, ValueError, MemoryError, OverflowError, RecursionError) as error:
        print_refusal(error)
        return 1, final_line(error)
    try:
        is_running = True
        result = eval(compiled, main.__dict__)
        if compiled.co_flags & CO_COROUTINE:
            run_coroutine(result)
        # A child that the code forked has no results.
        if os.getpid() == driver_pid:
            show_value(main.__dict__.pop(VALUE, None))
        is_running = False
        return 0, None
    except SystemExit as ending:
        is_running = False
        return exit_code_of(ending.code), None
    except BaseException as error:
        is_running = False
        try:
            print_error(error)
        except SystemExit as ending:
            # By a hook of the code, which ends it as it would end a program.
            return exit_code_of(ending.code), final_line(error)
        return 1, final_line(error)


CO_COROUTINE = 0x80
FEATURES = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})
# No name that code could write.
VALUE = '<value>'


def compile_code(code, name):
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    global features
    flags |= features
    try:
        tree = compile(code, name, 'exec', flags | ast.PyCF_ONLY_AST, True)
    except RecursionError:
        # Too deep for a tree, though not for the compiler.
        return compile(code, name, 'exec', flags, True)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr) and not is_silenced(code, last):
        assignment = ast.Assign(targets=[ast.Name(VALUE, ast.Store())], value=last.value)
        tree.body[-1] = ast.fix_missing_locations(ast.copy_location(assignment, last))
    compiled = compile(tree, name, 'exec', flags, True)
    # As in the REPL, `from __future__ import` also holds for what follows.
    features |= compiled.co_flags & FEATURES
    return compiled


def is_silenced(code, last):
    """A semicolon after the last expression. What follows one has no text: closing brackets and comments alone."""
    lines = source_lines(code)
    rest = [lines[last.end_lineno - 1].encode()[last.end_col_offset:].decode(), *lines[last.end_lineno:]]
    return any(';' in line.partition('#')[0] for line in rest)


def source_lines(code):
    """As the compiler counts them; `splitlines` knows more ends of lines."""
    return re.split(r'\r\n|\r|\n', code)


def show_value(value):
    if value is not None:
        builtins._ = value
        bundle = sallyport_results.bundle_of(value)
    show_changed_figures()
    if value is not None:
        emit(bundle, is_value=True)


def run_coroutine(coroutine):
    import asyncio
    global loop
    if loop is None or loop.is_closed():
        loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    task = loop.create_task(coroutine)
    try:
        loop.run_until_complete(task)
    except BaseException:
        task.cancel()
        raise


def exit_code_of(code):
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    report(f'{code}\n')
    return 1


def keep_source(name, code):
    sources.append((name, len(code)))
    linecache.cache[name] = (len(code), None, [f'{line}\n' for line in source_lines(code)], name)
    while len(sources) > 1 and sum(size for _, size in sources) > KEPT_SOURCE_CHARACTERS_MAX:
        linecache.cache.pop(sources.pop(0)[0], None)


def mark_streams(mark):
    for descriptor in marked_descriptors:
        rest = memoryview(mark)
        while rest:
            try:
                rest = rest[os.write(descriptor, rest):]
            except BlockingIOError:
                # The code, or a program that it started, has changed the pipe, which all of them share.
                select.select([], [descriptor], [])


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            # It was closed or replaced by the code that ran: nothing of it can be shown.
            pass
    libc.fflush(None)


def well_formed(text):
    """Halves of characters have no bytes: they are replaced, as for every other program."""
    return text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')


@contextlib.contextmanager
def placed(cwd, env):
    """A working folder and variables of one call: later code finds them as they were before."""
    folder = os.open('.', os.O_PATH) if cwd is not None else None
    before = {name: os.environ.get(name) for name in env}
    try:
        if cwd is not None:
            os.chdir(cwd)
        os.environ.update({name: well_formed(value) for name, value in env.items()})
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if folder is not None:
            os.fchdir(folder)
            os.close(folder)


def serve(header, payload):
    name = f'<python-{header["number"]}>'
    code = payload.decode(errors='replace').removeprefix('\ufeff')
    keep_source(name, code)
    if sys.stdin is sys.__stdin__ and sys.stdin.closed:
        # `exit()` closes it.
        sys.stdin = sys.__stdin__ = open(0, closefd=False)
    mark_streams(header['begin'].encode())
    try:
        with placed(header.get('cwd'), header.get('env', {})):
            exit_code, error_line = run(code, name)
    except KeyboardInterrupt:
        exit_code, error_line = 1, 'KeyboardInterrupt'
    except OSError as error:
        report(f'cwd: {error.filename}: {error.strerror}\n')
        exit_code, error_line = 1, final_line(error)
    flush()
    if os.getpid() != driver_pid:
        # A child that the code forked came to the end of the code.
        os._exit(exit_code)
    mark_streams(header['end'].encode())
    send({'type': 'done', 'exitCode': exit_code, 'errorLine': error_line})


driver = sys.modules['__main__']
main = types.ModuleType('__main__')
main.__builtins__ = builtins
sys.modules['__main__'] = main
sys.argv = ['']
sys.path[0] = ''
sys.meta_path.insert(0, sallyport_imports.PyplotHook(show_figures))
sys.meta_path.append(sallyport_imports.InstallHook())
builtins.display, emit = sallyport_results.display_with(send)
for stream in (sys.stdout, sys.stderr):
    stream.reconfigure(line_buffering=True)
os.set_inheritable(CHANNEL, False)
# Copies, so that the marks arrive although the code may close or redirect the originals.
marked_descriptors = [os.dup(1), os.dup(2)]
signal.signal(signal.SIGINT, on_interrupt)
send({'type': 'ready'})
while True:
    serve(*receive_frame())
