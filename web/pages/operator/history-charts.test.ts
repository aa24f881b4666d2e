import { expect, test } from 'vitest';
import type { StatsHistory } from '#sdk/routes.ts';
import { historyCharts, rowsOf } from './history-charts.ts';

const none = { count: 0, p50Ms: null, p95Ms: null };
const quiet: StatsHistory['points'][number] = {
  at: '2026-01-01T00:00:00.000Z',
  activeAgents: null,
  activeExecutions: null,
  sandboxes: null,
  poolReady: null,
  cold: none,
  warm: none,
  startsFailed: 0,
  approvals: none,
  errors: {},
};
const history = (
  points: StatsHistory['points'],
  summary: Partial<StatsHistory['summary']> = {},
): StatsHistory => ({
  scope: 'deployment',
  from: '2026-01-01T00:00:00.000Z',
  to: '2026-01-01T01:00:00.000Z',
  stepSeconds: 300,
  summary: { cold: none, warm: none, startsFailed: 0, approvals: none, errors: {}, ...summary },
  points,
});
const by = (id: string, given: StatsHistory) => historyCharts(given).find((chart) => chart.id === id);

test('empty history gives empty charts', () => {
  const charts = historyCharts(history([quiet]));
  expect(charts.map(({ isEmpty }) => isEmpty)).toEqual([true, true, true, true, true]);
  expect(charts.map(({ summary }) => summary)).toEqual([
    'No data yet. Counted every few minutes.',
    '0 cold, 0 warm, 0 failed.',
    'No sandbox starts.',
    '0 decided.',
    'No errors.',
  ]);
});

test('the summary has the numbers of the chart', () => {
  const cold = { count: 3, p50Ms: 900, p95Ms: 2400 };
  const given = history(
    [
      { ...quiet, activeAgents: 5, cold },
      { ...quiet, activeAgents: 2, errors: { a: 1, b: 2 } },
    ],
    { cold, errors: { b: 2, a: 1 } },
  );
  expect(by('starts', given)?.summary).toBe(
    '3 cold (median 900 ms, 95th percentile 2.4 s), 0 warm, 0 failed.',
  );
  expect(by('active', given)?.summary).toBe('Agent slots 2 now, peak 5.');
  expect(by('active', given)?.series.map(({ label }) => label)).toEqual(['Agent slots']);
  expect(by('errors', given)).toMatchObject({
    summary: '3 errors, most often b (2).',
    series: [{ values: [0, 3] }],
  });
});

test('a table has the events, newest first', () => {
  const series = [{ label: 'x', tone: 'accent' as const, values: [1, 0, null, 2] }];
  const times = ['a', 'b', 'c', 'd'];
  expect(rowsOf({ series, kind: 'bars' }, times).map(({ at }) => at)).toEqual(['d', 'a']);
  expect(rowsOf({ series, kind: 'lines' }, times).map(({ at }) => at)).toEqual(['d', 'b', 'a']);
});
