"""The Python interpreter of a sandbox: runs one piece of code after another in one `__main__`.

It speaks frames (wire/frame.ts) with the runner over descriptor 3 and hides nothing from the code it runs: code
that writes there itself lies about its own sandbox only (docs/spec/sandbox.md, W9 and W12). Output is all that
reaches descriptors 1 and 2 between two marks of the runner. Standard library only.
"""
import ast
import base64
import binascii
import builtins
import ctypes
import importlib.util
import io
import json
import linecache
import os
import signal
import struct
import sys
import threading
import traceback
import types

CHANNEL = 3
DISPLAY_BYTES_MAX = 4 * 1_048_576
ERROR_LINE_CHARACTERS_MAX = 1000
# How much source is kept so that tracebacks can show lines of earlier calls.
KEPT_SOURCE_CHARACTERS_MAX = 4_000_000

channel_lock = threading.Lock()
libc = ctypes.CDLL(None)
driver_pid = os.getpid()
is_running = False
loop = None
sources = []


def send(header, payload=b''):
    head = json.dumps(header).encode()
    frame = memoryview(struct.pack('>II', len(head), len(payload)) + head + payload)
    with channel_lock:
        while frame:
            frame = frame[os.write(CHANNEL, frame):]


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


def display(mime_type, data):
    """Shows a picture (bytes, or base64 text) or a text beside the output of the call."""
    if isinstance(data, str):
        content = text_content(mime_type, data)
    else:
        content = bytes(data)
    if not mime_type.startswith(('image/', 'text/')):
        raise ValueError(f'display shows image/* and text/*, not {mime_type}')
    shown = content if len(content) <= DISPLAY_BYTES_MAX else b''
    send({'type': 'display', 'mimeType': mime_type, 'bytes': len(content)}, shown)


def text_content(mime_type, text):
    if mime_type.startswith('text/'):
        return text.encode(errors='replace')
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        if mime_type == 'image/svg+xml':
            return text.encode()
        raise ValueError('an image is bytes or base64 text') from None


class PyplotHook:
    """Lets `pyplot.show` show, through names that every release of matplotlib has."""

    def find_spec(self, name, path=None, target=None):
        if name != 'matplotlib.pyplot':
            return None
        os.environ.setdefault('MPLBACKEND', 'agg')
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_hook(module):
                load(module)
                module.show = lambda *_, **__: show_figures(module)

            spec.loader.exec_module = load_and_hook
        return spec


def show_figures(pyplot):
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        picture = io.BytesIO()
        figure.savefig(picture, format='png')
        display('image/png', picture.getvalue())
    pyplot.close('all')


def on_interrupt(signal_number, frame):
    if is_running:
        raise KeyboardInterrupt


def run(code, name):
    """Gives the exit code and the final line of the error."""
    global is_running
    try:
        compiled = compile(code, name, 'exec', ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
    except (SyntaxError, ValueError, MemoryError, OverflowError, RecursionError) as error:
        sys.stderr.write(''.join(traceback.format_exception_only(type(error), error)))
        return 1, final_line(error)
    try:
        is_running = True
        result = eval(compiled, main.__dict__)
        if compiled.co_flags & CO_COROUTINE:
            run_coroutine(result)
        is_running = False
        return 0, None
    except SystemExit as ending:
        is_running = False
        return exit_code_of(ending.code), None
    except BaseException as error:
        is_running = False
        print_error(error)
        return 1, final_line(error)


CO_COROUTINE = 0x80


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
    print(code, file=sys.stderr)
    return 1


def print_error(error):
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(error), error, error.__traceback__)
        return
    shown = traceback.TracebackException.from_exception(error)
    hide_driver(shown, set())
    sys.stderr.write(''.join(shown.format()))


def hide_driver(shown, seen):
    if shown is None or id(shown) in seen:
        return
    seen.add(id(shown))
    if shown.stack:
        kept = [frame for frame in shown.stack if frame.filename != __file__]
        shown.stack = traceback.StackSummary.from_list(kept)
    hide_driver(shown.__cause__, seen)
    hide_driver(shown.__context__, seen)


def final_line(error):
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ in ('builtins', '__main__') else f'{kind.__module__}.{kind.__qualname__}'
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        line = (text or '').split('\n')[0]
    except BaseException:
        line = '<exception str() failed>'
    return f'{name}: {line}'[:ERROR_LINE_CHARACTERS_MAX] if line else name


def keep_source(name, code):
    sources.append((name, len(code)))
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    while len(sources) > 1 and sum(size for _, size in sources) > KEPT_SOURCE_CHARACTERS_MAX:
        linecache.cache.pop(sources.pop(0)[0], None)


def mark_streams(mark):
    for descriptor in marked_descriptors:
        rest = memoryview(mark)
        while rest:
            rest = rest[os.write(descriptor, rest):]


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            # It was closed or replaced by the code that ran: nothing of it can be shown.
            pass
    libc.fflush(None)


def serve(header, payload):
    name = f'<python-{header["number"]}>'
    code = payload.decode(errors='replace')
    keep_source(name, code)
    mark_streams(header['begin'].encode())
    try:
        exit_code, error_line = run(code, name)
    except KeyboardInterrupt:
        exit_code, error_line = 1, 'KeyboardInterrupt'
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
sys.meta_path.insert(0, PyplotHook())
builtins.display = display
for stream in (sys.stdout, sys.stderr):
    stream.reconfigure(line_buffering=True)
os.set_inheritable(CHANNEL, False)
# Copies, so that the marks arrive although the code may close or redirect the originals.
marked_descriptors = [os.dup(1), os.dup(2)]
signal.signal(signal.SIGINT, on_interrupt)
send({'type': 'ready'})
while True:
    serve(*receive_frame())
