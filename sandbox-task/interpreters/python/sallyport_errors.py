"""Errors of user code, as the plain interpreter prints them: without the frames of the driver, which names its files here.

Standard library only.
"""
import os
import sys
import traceback

ERROR_LINE_CHARACTERS_MAX = 1000

# A copy, since the code may close or redirect the original.
error_descriptor = os.dup(2)
hidden_files = {__file__}


def report(text):
    try:
        sys.stderr.write(text)
    except Exception:
        # It was closed or replaced by the code that ran.
        os.write(error_descriptor, text.encode(errors='replace'))


def keep_last(error):
    """For `pdb.pm()` and `traceback.print_last()`, as the REPL keeps it."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename in hidden_files:
        frames = frames.tb_next
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, frames
    sys.last_exc = error.with_traceback(frames)


def print_error(error):
    keep_last(error)
    if sys.excepthook is not sys.__excepthook__:
        try:
            sys.excepthook(type(error), error, error.__traceback__)
            return
        except Exception:
            # The default says what went wrong.
            pass
    shown = traceback.TracebackException.from_exception(error)
    hide_driver(shown, set())
    report(''.join(shown.format()))


def print_refusal(error):
    """Of code that cannot be compiled."""
    keep_last(error)
    report(''.join(traceback.format_exception_only(type(error), error)))


def hide_driver(shown, seen):
    if shown is None or id(shown) in seen:
        return
    seen.add(id(shown))
    if shown.stack:
        kept = [frame for frame in shown.stack if frame.filename not in hidden_files]
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
