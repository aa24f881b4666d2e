/**
 * The call registry: results by call id, so that a repeat gets the first result.
 *
 * A call with an id belongs to no connection: it ends by itself or by `cancel`. Results are stored within a bound of
 * bytes; a call whose result was dropped is still known and refused, never run again. A cancel that overtakes its
 * call prevents its start.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { Refusal } from './refusal.ts';
import type { OutputPiece } from './user-side.ts';

export type CallWork = (context: {
  readonly signal: AbortSignal;
  readonly onOutput: (piece: OutputPiece) => void;
}) => Promise<CallToolResult>;

type Listening = {
  readonly onOutput: (piece: OutputPiece) => void;
  /** Absent: until the call has ended. */
  readonly waitMs?: number | undefined;
};

export type CallRegistry = {
  /** `running`: the call goes on after `waitMs`. */
  readonly run: (callId: string, listening: Listening, work: CallWork) => Promise<CallToolResult | 'running'>;
  /** The state of the call when the cancel arrived. */
  readonly cancel: (callId: string) => 'running' | 'finished' | 'unknown';
  /** True while a call runs, whether or not anybody waits for it. */
  readonly isBusy: () => boolean;
};

type Entry = {
  readonly listeners: Set<(piece: OutputPiece) => void>;
  readonly abort: AbortController;
  /** False: its cancel came first. */
  readonly hasStarted: boolean;
  /** Absent when only the id is remembered. */
  result: Promise<CallToolResult> | undefined;
  isRunning: boolean;
  bytes: number;
};

type RegistryBounds = { readonly callsMax: number; readonly bytesMax: number };

export const createCallRegistry = ({ callsMax, bytesMax }: RegistryBounds): CallRegistry => {
  // A Map keeps the order of insertion: its first finished entry is the oldest.
  const entries = new Map<string, Entry>();
  let bytes = 0;

  const drop = (entry: Entry): void => {
    bytes -= entry.bytes;
    entry.bytes = 0;
    entry.result = undefined;
  };
  const forget = (callId: string, entry: Entry): void => {
    drop(entry);
    entries.delete(callId);
  };
  const makeRoom = (): void => {
    for (const [callId, entry] of entries) {
      if (entry.isRunning) continue;
      if (entries.size > callsMax) forget(callId, entry);
      else if (bytes > bytesMax) drop(entry);
      else break;
    }
  };
  const add = (callId: string, hasStarted: boolean): Entry => {
    const entry: Entry = {
      listeners: new Set(),
      abort: new AbortController(),
      hasStarted,
      result: undefined,
      isRunning: hasStarted,
      bytes: 0,
    };
    entries.set(callId, entry);
    makeRoom();
    return entry;
  };
  const start = (callId: string, work: CallWork): Entry => {
    const entry = add(callId, true);
    const onOutput = (piece: OutputPiece): void => {
      for (const listener of entry.listeners) listener(piece);
    };
    entry.result = work({ signal: entry.abort.signal, onOutput }).finally(() => {
      entry.isRunning = false;
    });
    entry.result.then(
      (result) => {
        entry.bytes = JSON.stringify(result).length;
        bytes += entry.bytes;
        makeRoom();
      },
      () => undefined,
    );
    return entry;
  };

  return {
    async run(callId, { onOutput, waitMs }, work) {
      const entry = entries.get(callId) ?? start(callId, work);
      if (entry.result === undefined) throw entry.hasStarted ? dropped() : cancelledEarly();
      entry.listeners.add(onOutput);
      try {
        return await within(entry.result, waitMs);
      } finally {
        entry.listeners.delete(onOutput);
      }
    },
    cancel(callId) {
      const entry = entries.get(callId);
      if (entry === undefined) add(callId, false);
      if (!entry?.hasStarted) return 'unknown';
      if (!entry.isRunning) return 'finished';
      entry.abort.abort();
      return 'running';
    },
    isBusy: () => [...entries.values()].some(({ isRunning }) => isRunning),
  };
};

const within = async <T>(result: Promise<T>, waitMs: number | undefined): Promise<T | 'running'> => {
  if (waitMs === undefined) return result;
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<'running'>((resolve) => {
    timer = setTimeout(resolve, waitMs, 'running');
  });
  return Promise.race([result, over]).finally(() => clearTimeout(timer));
};

const cancelledEarly = (): Refusal =>
  new Refusal('invalid_request', 'the call was cancelled before it started; it did not run');
const dropped = (): Refusal =>
  new Refusal('tool_outcome_unknown', 'the call ran, but its result is no longer stored');
