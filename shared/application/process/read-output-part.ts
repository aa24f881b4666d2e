/**
 * A part of a process's output as one text: from an offset to a bound of characters, or for as long as its caller waits.
 */

import { readOutputEvent } from '../../contracts/output-event.ts';
import { unsureBytesOf } from '../../domain/output-offset.ts';
import type { Session } from '../../domain/session.ts';
import { utf8Bytes } from '../../domain/text.ts';
import type { SandboxDeps } from '../deps.ts';
import { followOutput } from './follow-output.ts';

export type OutputPart = {
  readonly text: string;
  readonly nextOffset: number;
  readonly skippedBytes: number;
  readonly hasMore: boolean;
  /** The end of the output was reached: the process has ended, and no byte of it is left. */
  readonly isLast: boolean;
  /** The rest of the output went with its sandbox. */
  readonly isLost?: true;
};

type PartRequest = {
  readonly id: string;
  readonly offset: number;
  readonly charactersMax: number;
  readonly waitSeconds: number;
  readonly signal: AbortSignal;
};

export const readOutputPart = async (
  ports: SandboxDeps,
  session: Session,
  { id, offset, charactersMax, waitSeconds, signal }: PartRequest,
): Promise<OutputPart> => {
  const isFollowing = waitSeconds > 0;
  const stop = new AbortController();
  const body = await followOutput(ports, session, { id, offset, isFollowing, isAttached: false });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const over = isFollowing
    ? ports.world.sleep(waitSeconds * 1000, AbortSignal.any([signal, stop.signal]))
    : new Promise<undefined>(() => undefined);
  let part: OutputPart = { text: '', nextOffset: offset, skippedBytes: 0, hasMore: false, isLast: false };
  let pending = '';
  try {
    for (;;) {
      const read = await Promise.race([reader.read(), over.then(() => undefined)]);
      if (read === undefined || read.done || signal.aborted) return part;
      pending += read.value;
      const blocks = pending.split('\n\n');
      pending = blocks.pop() ?? '';
      for (const block of blocks) part = withEvent(part, block, charactersMax);
      if (part.hasMore) return part;
    }
  } finally {
    stop.abort();
    reader.cancel().catch(() => undefined);
  }
};

/** The part after one event; `hasMore` once the bound is reached. */
const withEvent = (part: OutputPart, block: string, charactersMax: number): OutputPart => {
  if (part.hasMore) return part;
  const event = readOutputEvent(block);
  if (event?.type === 'gap')
    return { ...part, nextOffset: event.to, skippedBytes: part.skippedBytes + event.to - event.from };
  if (event?.type === 'exit')
    return { ...part, isLast: true, ...((event.lost ?? event.outputLost) ? { isLost: true } : {}) };
  if (event?.type !== 'output') return part;
  const room = charactersMax - part.text.length;
  if (event.text.length <= room)
    return { ...part, text: part.text + event.text, nextOffset: event.offset + event.bytes };
  const whole = event.text.slice(0, room).replace(/[\uD800-\uDBFF]$/, '');
  // A first character that is longer than the bound is taken all the same: the next part would begin with it again.
  const cut = whole === '' && part.text === '' ? event.text.slice(0, 2) : whole;
  // Rather a byte twice than none: a replacement character may stand for fewer bytes than it has.
  const bytes = utf8Bytes(cut) - unsureBytesOf(cut);
  return { ...part, text: part.text + cut, nextOffset: event.offset + bytes, hasMore: true };
};
