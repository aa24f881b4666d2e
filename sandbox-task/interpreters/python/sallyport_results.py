"""Results of Python code: one MIME bundle for each displayed value, and one for the value of the last expression.

A value describes itself by the methods that IPython asks for
(https://ipython.readthedocs.io/en/stable/config/integrating.html). Tables of pandas and figures of matplotlib are
known by their types' names and modules: no library is imported here. Standard library only.
"""
import base64
import binascii
import io
import json
import re
import sys

from sallyport_charts import chart_of
from sallyport_tables import table_of

RESULT_BYTES_MAX = 4 * 1_048_576
JSON_BYTES_MAX = 512 * 1024
TEXT_CHARACTERS_MAX = 128 * 1024

CHART = 'application/vnd.sallyport.chart+json'
TABLE = 'application/vnd.dataresource+json'
# An interpreter whose result has more forms, or another type, breaks its protocol and is ended.
FORMS_MAX = 16
SHOWN = re.compile(r'(?:image|text|application)/[\w.+-]{1,100}', re.ASCII)
MIME_TYPE = re.compile(r'(?:image|text|application|audio|video|font|model|message|multipart)/[\w.+-]+')
METHODS = (
    ('_repr_html_', 'text/html'),
    ('_repr_markdown_', 'text/markdown'),
    ('_repr_svg_', 'image/svg+xml'),
    ('_repr_png_', 'image/png'),
    ('_repr_jpeg_', 'image/jpeg'),
    ('_repr_latex_', 'text/latex'),
    ('_repr_json_', 'application/json'),
    ('_repr_javascript_', 'application/javascript'),
    ('_repr_pdf_', 'application/pdf'),
)


def bundle_of(value):
    """Its text, and the other forms that it has."""
    bundle = {'text/plain': cut(repr(value))}
    if isinstance(value, (dict, list)):
        add(bundle, 'application/json', json_of(value))
    if isinstance(value, type):
        return bundle
    if is_of(value, 'matplotlib', 'Figure'):
        return bundle | forms_of_figure(value)
    bundle.update(own_forms(value))
    if is_of(value, 'pandas', 'DataFrame') or is_of(value, 'pandas', 'Series'):
        add(bundle, TABLE, table_of(value))
    return bundle


def cut(text):
    left = len(text) - TEXT_CHARACTERS_MAX
    return text if left <= 0 else f'{text[:TEXT_CHARACTERS_MAX]}… ({left} characters more)'


def add(bundle, mime_type, data):
    if data is not None:
        bundle[mime_type] = data


def is_of(value, package, name):
    return any(kind.__name__ == name and kind.__module__.partition('.')[0] == package for kind in type(value).__mro__)


def own_forms(value):
    forms = {}
    bundle = ask(value, '_repr_mimebundle_', include=None, exclude=None)
    if isinstance(bundle, dict):
        forms.update(bundle)
    for method, mime_type in METHODS:
        if mime_type not in forms:
            add(forms, mime_type, ask(value, method))
    return {mime_type: data for mime_type, data in forms.items() if data is not None}


def ask(value, method, **options):
    """A form that fails is left out: its text remains."""
    own = getattr(type(value), method, None)
    if not callable(own):
        return None
    try:
        form = own(value, **options)
    except NotImplementedError:
        return None
    except Exception as error:
        print(f'{method}: {type(error).__name__}: {error}', file=sys.stderr)
        return None
    # The second of a pair is metadata.
    return form[0] if isinstance(form, tuple) and len(form) == 2 else form


def json_of(value):
    """None when it is not JSON, or too long."""
    pieces = []
    size = 0
    try:
        for piece in json.JSONEncoder(allow_nan=False).iterencode(value):
            size += len(piece)
            if size > JSON_BYTES_MAX:
                return None
            pieces.append(piece)
    except (TypeError, ValueError, RecursionError, RuntimeError):
        return None
    return ''.join(pieces)


def forms_of_figure(figure):
    picture = io.BytesIO()
    figure.savefig(picture, format='png')
    # Every change sets it again (https://matplotlib.org/stable/api/artist_api.html), saving leaves it as it is.
    figure.stale = False
    forms = {'image/png': picture.getvalue()}
    chart = chart_of(figure)
    if chart is not None:
        add(forms, CHART, json_of(chart))
    return forms


def display_with(send):
    """Gives `display` and `emit`: for user code, and for bundles that are ready."""

    def display(*values, raw=False, **_):
        """`display(value)`, or `display(mime_type, data)` with bytes, base64 text, text or JSON."""
        if len(values) == 2 and isinstance(values[0], str) and MIME_TYPE.fullmatch(values[0]):
            mime_type, data = values
            if not SHOWN.fullmatch(mime_type):
                raise ValueError(f'display shows image/*, text/* and application/*, not {mime_type}')
            emit({mime_type: data})
            return
        for value in values:
            emit(value if raw else bundle_of(value))

    def emit(bundle, is_value=False):
        parts = fitting([(mime_type, encode(mime_type, data)) for mime_type, data in bundle.items()])
        header = [{'mimeType': mime_type, 'bytes': len(content)} for mime_type, content in parts]
        payload = b''.join(content for _, content in parts)
        is_over = len(payload) > RESULT_BYTES_MAX
        send({'type': 'result', 'isValue': is_value, 'parts': header}, b'' if is_over else payload)

    return display, emit


def fitting(parts):
    """The first forms, without the longest ones as long as another is left."""
    kept = [part for part in parts if SHOWN.fullmatch(part[0])][:FORMS_MAX]
    while len(kept) > 1 and sum(len(content) for _, content in kept) > RESULT_BYTES_MAX:
        kept.remove(max(kept, key=lambda part: len(part[1])))
    return kept


def is_text(mime_type):
    return mime_type.startswith('text/') or mime_type in ('image/svg+xml', 'application/javascript')


def is_json(mime_type):
    return mime_type == 'application/json' or mime_type.endswith('+json')


def encode(mime_type, data):
    if is_json(mime_type):
        if isinstance(data, str):
            json.loads(data)
            return data.encode(errors='replace')
        return json.dumps(data, allow_nan=False).encode(errors='replace')
    if not isinstance(data, str):
        return bytes(data)
    if mime_type.startswith('text/'):
        return data.encode(errors='replace')
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        if is_text(mime_type):
            return data.encode(errors='replace')
        raise ValueError('an image is bytes or base64 text') from None
