/**
 * Bounds a tool's result, as the model reads it and as the log holds it.
 *
 * A result that is too long for either is cut, kept whole as a file in the workspace, and says so.
 */

import { type ToolContent, textOf } from '../../../domain/event-log.ts';
import type { HistoryImage } from '../../../domain/history.ts';
import { resultBytesMax, toolResultCharactersMax } from '../../../domain/limits.ts';
import { imagesOf } from '../../../domain/result-images.ts';
import type { LiveSandbox } from '../../../domain/sandbox.ts';
import { cutBytes, cutMiddle, utf8Bytes } from '../../../domain/text.ts';
import type { Deps } from '../../deps.ts';

export type BoundedResult = {
  readonly content: readonly ToolContent[];
  readonly text: string;
  readonly images: readonly HistoryImage[];
  /** The file that has the whole, where it was stored. */
  readonly file?: KeptFile;
};
export type KeptFile = { readonly path: string; readonly content: string };

export type ResultFile = {
  /** The call's key: names the file. */
  readonly key: string;
  readonly get: () => Promise<{ readonly sandbox: LiveSandbox }>;
};

/** Blocks of a result over its limit that the log keeps, cut; the file has all of them. */
const blocksShownMax = 100;
/** A file API request carries at most this much; the output of a tool is cut before. */
const fileBytesMax = 4 * 1_048_576;

export const boundResult = async (
  ports: Deps<'link' | 'telemetry'>,
  content: readonly ToolContent[],
  place: ResultFile,
): Promise<BoundedResult> => {
  const { images, notes } = imagesOf(content);
  const whole = [textOf(content), ...notes].join('\n');
  const isLong = whole.length > toolResultCharactersMax;
  const isHeavy = utf8Bytes(JSON.stringify(content)) > resultBytesMax;
  if (!isLong && !isHeavy) return { content, text: whole, images };
  // Only text is stored as a file: a result that is heavy by its images alone has none.
  if (!isLong && utf8Bytes(whole) <= resultBytesMax / 2)
    return { content: lightened(content), text: whole, images };
  const { note, ...kept } = await keepWhole(ports, place, whole);
  return {
    ...kept,
    content: isHeavy ? [...lightened(content), { type: 'text', text: note }] : content,
    text: `${cutMiddle(whole, toolResultCharactersMax)}\n${note}`,
    images,
  };
};

/** Where the whole is, in words. */
const keepWhole = async (
  { link, telemetry }: Deps<'link' | 'telemetry'>,
  { key, get }: ResultFile,
  whole: string,
): Promise<{ readonly note: string; readonly file?: KeptFile }> => {
  const name = key.replaceAll(/[^\w.-]+/g, '-').slice(-100);
  const path = `.sallyport/outputs/${name}.txt`;
  const content = cutBytes(whole, fileBytesMax);
  const body = new TextEncoder().encode(content);
  try {
    const { sandbox } = await get();
    const response = await link.fetch(sandbox, { method: 'PUT', path: `/files/${path}`, body });
    await response.body?.cancel();
    const note = `[The result was too long and is cut here; the whole is in /workspace/${path}.]`;
    if (response.ok) return { note, file: { path, content } };
  } catch (error) {
    telemetry.warn('a long result was not stored', { error });
  }
  return { note: '[The result was too long and is cut here; the whole could not be stored.]' };
};

/** Text blocks share what the log has room for; pictures that do not fit are named. */
const lightened = (content: readonly ToolContent[]): readonly ToolContent[] => {
  const shown = content.slice(0, blocksShownMax);
  const share = Math.floor(resultBytesMax / 2 / Math.max(1, shown.length));
  return shown.map((block) => {
    if (typeof block['text'] === 'string')
      return { ...block, text: cutToJsonBytes(block['text'], share), truncated: true };
    return utf8Bytes(JSON.stringify(block)) <= share
      ? block
      : { type: 'text', text: `[${block.type}: too large to show]` };
  });
};

/** JSON writes a control character in six bytes, so that characters are no measure of what is stored. */
const cutToJsonBytes = (text: string, bytesMax: number): string => {
  let kept = text;
  for (let max = bytesMax; max >= 1 && utf8Bytes(JSON.stringify(kept)) > bytesMax; max /= 2)
    kept = cutMiddle(text, Math.floor(max));
  return kept;
};
