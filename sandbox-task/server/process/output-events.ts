/**
 * The output of a process as server-sent events, from any offset, to any number of readers.
 *
 * A reader holds no more than one piece: if it is too slow, the ring moves on and it gets a gap.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { relayWantedComment } from '#shared/contracts/relay/wanted.ts';
import { endPaced, writePaced } from '../http-messages.ts';
import type { SandboxRelay } from '../relay/relay.ts';
import type { ProcessEntry } from './process-registry.ts';

type Reading = {
  readonly offset: number;
  readonly isFollowing: boolean;
  /** It counts as a reader that the process is for. */
  readonly isAttached: boolean;
  /** It continues no other slice. */
  readonly isFirst: boolean;
  /** Absent: it follows to the end. */
  readonly sliceMs: number | undefined;
  readonly pieceBytesMax: number;
  /** A reader that follows is told when a program wants it. */
  readonly relay: Pick<SandboxRelay, 'onWanted'>;
};

export const pieceBytesDefault = 32 * 1024;
const keepAliveMs = 15_000;
/** Output that comes at once is sent as one event. */
const batchMs = 10;

export const sendOutput = async (
  entry: ProcessEntry,
  response: ServerResponse,
  reading: Reading,
): Promise<void> => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  if (reading.isAttached) entry.attached += 1;
  const stopTelling = reading.isFollowing ? tellWanted(response, reading) : () => undefined;
  try {
    if (reading.isFirst) await writePaced(response, event('start', { processId: entry.processId }));
    await sendFrom(entry, response, reading);
    await endPaced(response);
  } finally {
    stopTelling();
    if (reading.isAttached) leave(entry, reading);
  }
};

/** A reader that takes nothing is told once it does. */
const tellWanted = (response: ServerResponse, { relay }: Reading): (() => void) =>
  relay.onWanted(() => {
    if (response.writableEnded || response.destroyed || response.writableNeedDrain) return;
    response.write(relayWantedComment);
  });

/** The reader of a slice is about to ask for the next one. */
const leave = (entry: ProcessEntry, { sliceMs }: Reading): void => {
  const end = (): void => {
    entry.attached -= 1;
  };
  if (sliceMs === undefined) end();
  else setTimeout(end, nextSliceMsMax);
};

const nextSliceMsMax = 3000;

const sendFrom = async (
  entry: ProcessEntry,
  response: ServerResponse,
  { offset, isFollowing, sliceMs = Number.POSITIVE_INFINITY, pieceBytesMax }: Reading,
): Promise<void> => {
  const endsAt = performance.now() + sliceMs;
  // A process that prints faster than it is read would never be done.
  const readTo = isFollowing ? Number.POSITIVE_INFINITY : entry.log.bounds().to;
  let at = offset;
  for (;;) {
    const next = nextOf(entry, at, { readTo, pieceBytesMax });
    if (next !== undefined) {
      await writePaced(response, event(next.name, next.data));
      if (next.name === 'exit') return;
      at = next.to;
    } else if (!isFollowing || response.destroyed) return;
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) {
      await writePaced(response, Buffer.from(`:next ${at}\n\n`));
      return;
    }
    if (next === undefined) await waitForMore(entry, response, leftMs);
  }
};

const waitForMore = async (entry: ProcessEntry, response: ServerResponse, leftMs: number): Promise<void> => {
  const woken = await nextChange(entry, response, Math.min(keepAliveMs, Math.ceil(leftMs)));
  if (woken === 'silence' && leftMs > keepAliveMs) await writePaced(response, Buffer.from(':\n\n'));
  else if (woken === 'output' && !entry.log.isClosed()) await delay(batchMs);
};

type Next = { readonly name: 'gap' | 'output' | 'exit'; readonly data: object; readonly to: number };

/** Undefined when there is nothing to say yet. */
const nextOf = (
  entry: ProcessEntry,
  at: number,
  { readTo, pieceBytesMax }: { readonly readTo: number; readonly pieceBytesMax: number },
): Next | undefined => {
  const { log } = entry;
  if (at >= readTo && !log.isClosed()) return undefined;
  const { from, to } = log.bounds();
  if (at < from) return { name: 'gap', data: { from: at, to: from }, to: from };
  const piece = log.read(at, pieceBytesMax);
  if (piece !== undefined) {
    const { stream, bytes } = piece;
    const data = { stream, offset: at, bytes: bytes.length, text: bytes.toString() };
    return { name: 'output', data, to: at + bytes.length };
  }
  return log.isClosed() && at >= to ? { name: 'exit', data: exitOf(entry), to: at } : undefined;
};

const nextChange = (
  { log }: ProcessEntry,
  response: ServerResponse,
  waitMs: number,
): Promise<'output' | 'closed' | 'silence'> =>
  new Promise((resolve) => {
    const settle = (how: 'output' | 'closed' | 'silence'): void => {
      clearTimeout(silence);
      response.off('close', onClose);
      stopListening();
      resolve(how);
    };
    const onClose = (): void => settle('closed');
    const silence = setTimeout(() => settle('silence'), waitMs);
    const stopListening = log.onChange(() => settle('output'));
    response.once('close', onClose);
  });

const exitOf = ({ end, isLost }: ProcessEntry): object => ({
  exitCode: end?.exitCode ?? null,
  ...(end?.signal == null ? {} : { signal: end.signal }),
  ...(end?.killedFor == null ? {} : { killedFor: end.killedFor }),
  ...(isLost ? { lost: true } : {}),
});

const event = (name: string, data: object): Buffer =>
  Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
