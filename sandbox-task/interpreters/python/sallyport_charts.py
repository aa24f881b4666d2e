"""The data of a chart: type, title, axes and series of a figure of matplotlib.

Asks the figure for what it has drawn (https://matplotlib.org/stable/api/artist_api.html) and imports nothing. A chart of
another kind (a picture, a mesh) has no data, only its image.
"""
POINTS_MAX = 10_000


def chart_of(figure):
    """One chart, or `charts` of a figure that has several; None when nothing is known of them."""
    try:
        charts = [chart for axes in figure.get_axes() for chart in [chart_of_axes(axes)] if chart is not None]
        title = title_of(figure)
    except Exception:
        # A figure of another release, or of a stand-in: its image is shown all the same.
        return None
    if len(charts) > 1:
        return {'type': 'figure', 'title': title, 'charts': charts}
    return {**charts[0], 'title': charts[0]['title'] or title} if charts else None


def title_of(figure):
    title = getattr(figure, '_suptitle', None)
    return '' if title is None else title.get_text()


def chart_of_axes(axes):
    series = [*pies(axes), *lines(axes), *bars(axes), *scatters(axes)]
    if not series or sum(len(one.get('points', one.get('values'))) for one in series) > POINTS_MAX:
        return None
    kinds = {one['type'] for one in series}
    return {
        'type': kinds.pop() if len(kinds) == 1 else 'mixed',
        'title': axes.get_title(),
        'axes': {'x': axis_of(axes.get_xlabel(), axes.get_xscale()), 'y': axis_of(axes.get_ylabel(), axes.get_yscale())},
        'series': series,
    }


def axis_of(label, scale):
    return {'label': label, 'scale': scale}


def lines(axes):
    # The caps and stems of error bars belong to a container, and have no label of their own.
    return [
        {'type': 'line', 'label': label_of(line), 'points': points(line.get_xdata(), line.get_ydata())}
        for line in axes.get_lines()
        if len(line.get_xdata()) > 0
    ]


def bars(axes):
    containers = [container for container in axes.containers if is_a(container, 'BarContainer')]
    return [bar_series(container, axes) for container in containers]


def bar_series(container, axes):
    is_horizontal = getattr(container, 'orientation', 'vertical') == 'horizontal'
    names = names_on(axes.yaxis if is_horizontal else axes.xaxis)
    values = []
    for bar in container.patches:
        if is_horizontal:
            place, length = bar.get_y() + bar.get_height() / 2, bar.get_width()
        else:
            place, length = bar.get_x() + bar.get_width() / 2, bar.get_height()
        values.append({'label': names.get(round(place, 9), plain(place)), 'value': plain(length)})
    direction = 'horizontal' if is_horizontal else 'vertical'
    return {'type': 'bar', 'label': label_of(container), 'direction': direction, 'values': values}


def names_on(axis):
    """The names of places, where ticks have names and not numbers."""
    if not any(is_a(axis.get_major_formatter(), name) for name in ('StrCategoryFormatter', 'FixedFormatter', 'FuncFormatter')):
        return {}
    ticks = zip(axis.get_majorticklocs(), axis.get_ticklabels())
    return {round(float(place), 9): label.get_text() for place, label in ticks if label.get_text()}


def scatters(axes):
    return [
        {'type': 'scatter', 'label': label_of(one), 'points': [[plain(x), plain(y)] for x, y in one.get_offsets()]}
        for one in axes.collections
        if is_a(one, 'PathCollection')
    ]


def pies(axes):
    wedges = [patch for patch in axes.patches if is_a(patch, 'Wedge')]
    if not wedges:
        return []
    values = [{'label': label_of(one), 'value': plain(round(abs(one.theta2 - one.theta1) / 360, 6))} for one in wedges]
    return [{'type': 'pie', 'label': '', 'values': values}]


def is_a(value, name):
    return any(kind.__name__ == name for kind in type(value).__mro__)


def label_of(artist):
    """A label that begins with an underscore is one that matplotlib gave."""
    label = str(artist.get_label())
    return '' if label.startswith('_') else label


def points(xs, ys):
    return [[plain(x), plain(y)] for x, y in zip(xs, ys)]


def plain(value):
    """A number as JSON has it, or text: dates and times are in ISO 8601."""
    if hasattr(value, 'isoformat'):
        return value.isoformat()
    if type(value).__name__ == 'datetime64':
        return str(value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    if number != number or number in (float('inf'), float('-inf')):
        return None
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
