"""Results of code as data: the table of a data frame, and what a chart has drawn.

A bundle comes from code that may write anything into it: what has another shape is no table, and no chart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

TABLE_TYPE = "application/vnd.dataresource+json"
CHART_TYPE = "application/vnd.sallyport.chart+json"


@dataclass(frozen=True)
class TableField:
    name: str
    #: Of Table Schema: ``integer``, ``number``, ``string``, ``boolean``, ``datetime``, ``any`` and others.
    type: str


@dataclass(frozen=True)
class Table:
    """A data frame or series of pandas: the first rows, the columns in order, and the size of the whole."""

    #: The index is first.
    fields: list[TableField]
    rows: list[dict[str, Any]]
    row_count: int
    #: Without those of the index.
    column_count: int


#: A number; a text for names and times (ISO 8601); None where there is no value.
Coordinate = float | str | None


class ChartAxis(TypedDict):
    label: str
    #: As matplotlib names it: ``linear``, ``log`` and others.
    scale: str


class ChartValue(TypedDict):
    label: Coordinate
    value: Coordinate


class ChartSeries(TypedDict, total=False):
    """`points` of a line or scatter; `values` of bars and of a pie, where they are shares of one."""

    type: str
    label: str
    points: list[list[Coordinate]]
    values: list[ChartValue]
    direction: str


class ChartAxes(TypedDict):
    x: ChartAxis
    y: ChartAxis


class Chart(TypedDict):
    type: str
    title: str
    axes: ChartAxes
    series: list[ChartSeries]


def table_of(bundle: dict[str, Any]) -> Table | None:
    table: Any = bundle.get(TABLE_TYPE)
    match table:
        case {"schema": {"fields": [*fields]}, "data": [*data]}:
            if not all(isinstance(field, dict) and "name" in field for field in fields):
                return None
            if not all(isinstance(row, dict) for row in data):
                return None
            return Table(
                fields=[TableField(str(one["name"]), str(one.get("type", "any"))) for one in fields],
                rows=data,
                row_count=table.get("rows", len(data)),
                column_count=table.get("columns", len(fields)),
            )
    return None


def charts_of(bundle: dict[str, Any]) -> list[Chart]:
    """One for each pair of axes of a figure; none for a result that is no chart, or whose data are not known."""
    figure: Any = bundle.get(CHART_TYPE)
    match figure:
        case {"type": "figure", "charts": [*charts]}:
            return charts if all(_is_chart(one) for one in charts) else []
        case _:
            return [figure] if _is_chart(figure) else []


def _is_chart(value: Any) -> bool:
    match value:
        case {"title": str(), "axes": {"x": {"label": str()}, "y": {"label": str()}}, "series": [*series]}:
            return all(
                isinstance(one, dict) and isinstance(one.get("points", one.get("values")), list)
                for one in series
            )
    return False
