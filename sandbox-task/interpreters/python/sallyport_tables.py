"""Tables of pandas as data: a schema and the first rows that fit, under names that differ.

The form is that of a tabular data resource (https://specs.frictionlessdata.io/tabular-data-resource/), with the size of the
whole as `rows` and `columns`. Standard library only.
"""
import json

ROWS_MAX = 1000
COLUMNS_MAX = 200
TABLE_BYTES_MAX = 256 * 1024


def table_of(value):
    """None for a table that pandas cannot write as JSON: its HTML remains."""
    try:
        frame = value if value.ndim == 2 else value.to_frame('values' if value.name is None else value.name)
        rows, columns = frame.shape
        # Another frame, whose names are its own.
        shown = frame.iloc[:ROWS_MAX, :COLUMNS_MAX]
        taken = set()
        shown.columns = distinct([name_of(one) for one in shown.columns], taken)
        shown.index = shown.index.set_names(index_names(shown.index, taken))
        table = json.loads(shown.to_json(orient='table'))
    except Exception:
        return None
    return {'schema': table['schema'], 'data': fitting(table['data']), 'rows': rows, 'columns': columns}


def name_of(name):
    """A column below others has the names of all levels."""
    if not isinstance(name, tuple):
        return str(name)
    return ' / '.join(str(one) for one in name if one != '')


def index_names(index, taken):
    """None where the name is the one that pandas gives: it warns of such a name when it is set."""
    defaults = ['index'] if len(index.names) == 1 else [f'level_{level}' for level in range(len(index.names))]
    wanted = [default if name is None else name_of(name) for name, default in zip(index.names, defaults)]
    return [None if name == default else name for name, default in zip(distinct(wanted, taken), defaults)]


def distinct(names, taken):
    """A row has one value under one name: a name that is taken gets a number."""
    own = []
    for name in names:
        free = name
        number = 1
        while free in taken:
            free = f'{name}.{number}'
            number += 1
        taken.add(free)
        own.append(free)
    return own


def fitting(rows):
    left = TABLE_BYTES_MAX
    for count, row in enumerate(rows):
        left -= len(json.dumps(row))
        if left < 0:
            return rows[:count]
    return rows
