/**
 * Drawing of a chart on a canvas with uPlot, in the colours of the theme, without animation.
 *
 * uPlot sets its sizes by script, which the content security policy allows. A canvas cannot resolve `light-dark()`, so
 * each colour is read from an element.
 */
import uPlot from 'uplot';
import type { Chart, ChartTone } from './history-charts.ts';

export type DrawnChart = {
  readonly resize: (width: number) => void;
  readonly destroy: () => void;
};

export type Drawing = {
  readonly host: HTMLElement;
  readonly chart: Chart;
  /** Epoch seconds, one for each value. */
  readonly times: readonly number[];
  readonly width: number;
  /** Index of the point under the pointer, or null. */
  readonly onPoint: (index: number | null) => void;
};

const chartHeight = 168;
const tokens: Readonly<Record<ChartTone, string>> = {
  accent: '--accent',
  brass: '--wait',
  info: '--info',
  bad: '--bad',
};

const colourIn = (host: HTMLElement, token: string): string => {
  const probe = document.createElement('span');
  probe.style.color = `var(${token})`;
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

/** Stacked values, the topmost series first, so that lower series are drawn over it. */
const stacked = ({ series }: Chart): (number | null)[][] => {
  const piles: number[][] = [];
  for (const { values } of series)
    piles.push(values.map((value, index) => (value ?? 0) + (piles.at(-1)?.[index] ?? 0)));
  return piles.reverse();
};

const pathsOf = (kind: Chart['kind']): uPlot.Series.PathBuilder | undefined => {
  if (kind === 'bars') return uPlot.paths.bars?.({ size: [0.72, 28], gap: 1 });
  return kind === 'steps' ? uPlot.paths.stepped?.({ align: 1 }) : uPlot.paths.linear?.();
};

/** With so few points a line alone would be invisible. */
const sparseMax = 40;
const isSparse = ({ series }: Chart): boolean =>
  series.every(({ values }) => values.filter((value) => value !== null).length <= sparseMax);

const seriesOf = ({ host, chart }: Drawing): uPlot.Series[] => {
  const paths = pathsOf(chart.kind);
  const drawn = chart.series.map(({ tone }): uPlot.Series => {
    const colour = colourIn(host, tokens[tone]);
    return {
      stroke: colour,
      width: chart.kind === 'bars' ? 0 : 2,
      ...(chart.kind === 'bars' ? { fill: colour } : {}),
      ...(paths === undefined ? {} : { paths }),
      points: { show: chart.kind !== 'bars' && isSparse(chart), size: 6, fill: colour },
      spanGaps: chart.kind === 'lines',
    };
  });
  return chart.kind === 'bars' ? drawn.reverse() : drawn;
};

const axisOf = (host: HTMLElement): uPlot.Axis => ({
  stroke: colourIn(host, '--soft'),
  font: `12px ${getComputedStyle(host).fontFamily}`,
  grid: { stroke: colourIn(host, '--line'), width: 1 },
  ticks: { show: false },
});

export const drawChart = (drawing: Drawing): DrawnChart => {
  const { host, chart, times, width, onPoint } = drawing;
  const axis = axisOf(host);
  const step = (times[1] ?? 0) - (times[0] ?? 0);
  const isCount = chart.kind !== 'lines';
  const values = (_: uPlot, splits: number[]) => splits.map((value) => chart.format(value));
  const data = chart.kind === 'bars' ? stacked(chart) : chart.series.map((one) => [...one.values]);
  const plot = new uPlot(
    {
      width,
      height: chartHeight,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: {
        x: { range: (_, first, last) => [first - step / 2, last + step / 2] },
        y: { range: (_, __, highest) => [0, Math.max(highest ?? 0, isCount ? 4 : 100) * 1.1] },
      },
      series: [{}, ...seriesOf(drawing)],
      axes: [
        { ...axis, grid: { show: false }, size: 28, values: timeLabels },
        {
          ...axis,
          size: 58,
          values,
          ...(isCount ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000] } : {}),
        },
      ],
      hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    },
    [[...times], ...data] as uPlot.AlignedData,
    host,
  );
  return { resize: (to) => plot.setSize({ width: to, height: chartHeight }), destroy: () => plot.destroy() };
};

const daySeconds = 86_400;

const timeLabels = (_: uPlot, splits: number[]): string[] => {
  const isLong = (splits.at(-1) ?? 0) - (splits[0] ?? 0) > 2 * daySeconds;
  const form: Intl.DateTimeFormatOptions = isLong
    ? { weekday: 'short', day: 'numeric' }
    : { hour: '2-digit', minute: '2-digit', hour12: false };
  return splits.map((seconds) => new Date(seconds * 1000).toLocaleString('en', form));
};
