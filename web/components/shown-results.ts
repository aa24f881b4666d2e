/**
 * Results of a tool or of code, each by its rendering. Pure.
 *
 * A picture is shown only when it is valid base64: a browser runs no script of an SVG that is a picture, and loads nothing for it.
 */
import { type Chart, chartsOf, chartType, type ResultBundle, tableOf, tableType } from '#sdk/code-results.ts';
import type { ToolContent } from '#shared/domain/event-log.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { visibleText } from '#shared/domain/visible-text.ts';
import { byteSize } from './format.ts';
import { chartLabel, type Grid, gridOfChart, gridOfRecords, gridOfTable, isReadable } from './result-grid.ts';

export type Shown =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'picture'; readonly url: string; readonly alt: string }
  | { readonly kind: 'json'; readonly text: string }
  | { readonly kind: 'table'; readonly label: string; readonly grid: Grid }
  /** The data of the picture before it. */
  | { readonly kind: 'chart'; readonly label: string; readonly grid: Grid }
  /** Its end is missing. */
  | { readonly kind: 'cut' };

const pictureTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/svg+xml'];
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
const pictureName = 'Output of the tool';

/** The content of a tool's result. `isCut`: its long texts have lost their ends. */
export const shownContent = (content: readonly ToolContent[], isCut = false): readonly Shown[] =>
  named(
    content
      .flatMap((block) => (isCut && isWhole(block) ? [{ kind: 'cut' } as const] : shownBlock(block)))
      // A program that printed nothing has an empty text before what it displayed.
      .filter((one) => one.kind !== 'text' || one.text !== ''),
  );

/** Nothing can be shown of a part of it. */
const isWhole = ({ type }: ToolContent): boolean => type === 'image' || type === 'resource';

/** The best forms of one result of code. */
export const shownBundle = (bundle: ResultBundle): readonly Shown[] => {
  const table = tableOf(bundle);
  if (table !== undefined) return [{ kind: 'table', label: 'Table', grid: gridOfTable(table) }];
  const picture = pictureTypes.flatMap((type) => pictureOf(type, inBase64(type, bundle[type])))[0];
  if (picture !== undefined) return named([picture, ...shownCharts(chartsOf(bundle))]);
  const records = gridOfRecords(bundle['application/json']);
  if (records !== undefined) return [{ kind: 'table', label: 'Table', grid: records }];
  const { 'text/plain': text } = bundle;
  if (typeof text === 'string') return [{ kind: 'text', text: `${text}\n` }];
  return [{ kind: 'json', text: JSON.stringify(bundle, null, 2) }];
};

const shownBlock = (block: ToolContent): readonly Shown[] => {
  const { type, text, data, mimeType, resource } = block;
  if (type === 'text' && typeof text === 'string') return [{ kind: 'text', text }];
  const picture = type === 'image' ? pictureOf(mimeType, data) : [];
  if (picture.length > 0) return picture;
  if (type === 'resource' && isObject(resource) && typeof resource['text'] === 'string')
    return shownResource(resource['mimeType'], resource['text']);
  if (type === 'audio' && typeof data === 'string') {
    const size = byteSize(Math.floor((data.length * 3) / 4));
    return [{ kind: 'text', text: `[${visibleText(String(mimeType))}, ${size}]` }];
  }
  return [{ kind: 'json', text: JSON.stringify(block, null, 2) }];
};

const shownResource = (mimeType: unknown, text: string): readonly Shown[] => {
  if (mimeType !== tableType && mimeType !== chartType) return [{ kind: 'text', text }];
  const bundle = { [mimeType]: parsed(text) };
  const table = tableOf(bundle);
  return table === undefined
    ? shownCharts(chartsOf(bundle))
    : [{ kind: 'table', label: 'Table', grid: gridOfTable(table) }];
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const shownCharts = (charts: readonly Chart[]): readonly Shown[] =>
  charts
    .filter(isReadable)
    .map((chart) => ({ kind: 'chart', label: visibleText(chartLabel(chart)), grid: gridOfChart(chart) }));

/** A picture is named by the charts whose data follow it. */
const named = (shown: readonly Shown[]): readonly Shown[] =>
  shown.map((one, index) => {
    if (one.kind !== 'picture') return one;
    const after = shown.slice(index + 1);
    const end = after.findIndex(({ kind }) => kind !== 'chart');
    const labels = after
      .slice(0, end === -1 ? undefined : end)
      .flatMap((next) => ('label' in next ? [next.label] : []));
    return labels.length === 0 ? one : { ...one, alt: labels.join('. ') };
  });

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A drawing comes as its text in a bundle. */
const inBase64 = (type: string, data: unknown): unknown =>
  type === 'image/svg+xml' && typeof data === 'string'
    ? btoa(Array.from(new TextEncoder().encode(data), (byte) => String.fromCodePoint(byte)).join(''))
    : data;

const pictureOf = (mimeType: unknown, data: unknown): readonly Shown[] =>
  typeof mimeType === 'string' &&
  pictureTypes.includes(mimeType) &&
  typeof data === 'string' &&
  data.length % 4 === 0 &&
  base64.test(data)
    ? [{ kind: 'picture', url: `data:${mimeType};base64,${data}`, alt: pictureName }]
    : [];
