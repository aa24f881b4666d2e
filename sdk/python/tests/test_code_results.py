"""Tables and charts among the results of code."""

from __future__ import annotations

from typing import Any

import pytest

from sallyport import Table, TableField, charts_of, table_of
from sallyport._code_results import CHART_TYPE, TABLE_TYPE

SCHEMA = {"fields": [{"name": "index", "type": "integer"}, {"name": 0}]}
AXES = {"x": {"label": "", "scale": "linear"}, "y": {"label": "y", "scale": "log"}}
LINE = {"type": "line", "title": "T", "axes": AXES, "series": [{"type": "line", "label": "", "points": [[1, 2]]}]}


def test_a_data_frame_is_a_table() -> None:
    rows = [{"index": 0, "0": 1.5}]
    fields = [TableField("index", "integer"), TableField("0", "any")]
    sized = {"schema": SCHEMA, "data": rows, "rows": 9, "columns": 1}
    assert table_of({TABLE_TYPE: sized}) == Table(fields, rows, 9, 1)
    assert table_of({TABLE_TYPE: {"schema": SCHEMA, "data": rows}}) == Table(fields, rows, 1, 2)


@pytest.mark.parametrize(
    "bundle",
    [
        {},
        {TABLE_TYPE: None},
        {TABLE_TYPE: {"schema": {}, "data": []}},
        {TABLE_TYPE: {"schema": {"fields": [{}]}, "data": []}},
        {TABLE_TYPE: {"schema": SCHEMA, "data": [1]}},
    ],
)
def test_no_table(bundle: dict[str, Any]) -> None:
    assert table_of(bundle) is None


def test_a_figure_is_one_chart_or_several() -> None:
    assert charts_of({CHART_TYPE: LINE}) == [LINE]
    assert charts_of({CHART_TYPE: {"type": "figure", "title": "", "charts": [LINE, LINE]}}) == [LINE, LINE]


@pytest.mark.parametrize(
    "bundle",
    [{}, {CHART_TYPE: "line"}, {CHART_TYPE: {**LINE, "axes": {}}}, {CHART_TYPE: {**LINE, "series": [{}]}}],
)
def test_no_chart(bundle: dict[str, Any]) -> None:
    assert charts_of(bundle) == []
