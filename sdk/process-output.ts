/**
 * The output of a process from any offset to its end: it resumes after the last byte that was given out, so that no lost
 * connection leaves a gap or repeats anything.
 */

import type { ApiClient } from './api-client.ts';
import { connectionLost } from './errors.ts';
import type { OutputPiece, ProcessEnd } from './frames.ts';
import { pathOf } from './route.ts';
import { resumeEvents } from './server-events.ts';

export type ProcessAddress = { readonly sessionId: string; readonly processId: string };

/** Each has a text, so that adding them up gives the whole output. */
export type OutputEvent =
  | {
      readonly type: 'output';
      readonly stream: 'stdout' | 'stderr' | 'pty';
      /** In bytes of the one joined log. */
      readonly offset: number;
      readonly text: string;
    }
  /** The bytes between are no longer kept. */
  | { readonly type: 'gap'; readonly from: number; readonly to: number; readonly text: '' }
  | ({ readonly type: 'exit'; readonly text: '' } & ProcessExit);

export type ProcessExit = {
  /** By the rule of shells for one that a signal ended: 128 and its number. 137 where it is not known. */
  readonly exitCode: number;
  readonly signal?: string;
  /** It ended with its sandbox. */
  readonly isLost?: true;
  /** It had ended before its sandbox, and what was left of its output went with that. */
  readonly isOutputLost?: true;
};

export type OutputOptions = {
  /** From which byte on; absent: from the first that is kept. */
  readonly offset?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

export const outputPath = ({ sessionId, processId }: ProcessAddress): string =>
  pathOf('/api/sessions/{id}/processes/{processId}/output', { id: sessionId, processId });

export type Followed = OutputOptions & {
  /** Absent: the events of `first` name it. */
  readonly processId?: string | undefined;
  /** An answer whose events were not read yet. */
  readonly first?: Response;
  readonly onStart?: (processId: string) => void;
};

export async function* followOutput(
  client: ApiClient,
  sessionId: string,
  { offset = 0, signal, first, onStart = () => undefined, ...given }: Followed,
): AsyncGenerator<OutputEvent, void> {
  let { processId } = given;
  let unread = first;
  let next = offset;
  let isOver = false;
  const open = async (): Promise<Response> => {
    const answer = unread;
    unread = undefined;
    if (answer !== undefined) return answer;
    if (processId === undefined) throw connectionLost();
    const headers = { accept: 'text/event-stream' };
    return client.fetch(`${outputPath({ sessionId, processId })}?offset=${next}`, { headers, signal });
  };
  for await (const { event, data } of resumeEvents({ open, isOpen: () => !isOver, signal })) {
    if (event === 'start') {
      ({ processId } = data as { readonly processId: string });
      onStart(processId);
    } else if (event === 'output') {
      const piece = unseenPart(data as OutputPiece, next);
      if (piece === undefined) continue;
      if (piece.offset > next) yield { type: 'gap', from: next, to: piece.offset, text: '' };
      next = piece.offset + piece.bytes;
      yield { type: 'output', stream: piece.stream, offset: piece.offset, text: piece.text };
    } else if (event === 'gap') {
      const { from, to } = data as WireGap;
      next = Math.max(next, to);
      yield { type: 'gap', from, to, text: '' };
    } else if (event === 'exit') {
      isOver = true;
      yield { type: 'exit', ...exitOf(data as ProcessEnd), text: '' };
    }
  }
}

type WireGap = { readonly from: number; readonly to: number };

/** Without what was given out before; undefined when that is all. */
export const unseenPart = (event: OutputPiece, next: number) => {
  const encoded = new TextEncoder().encode(event.text);
  const { bytes = encoded.length } = event;
  const seen = next - event.offset;
  if (seen <= 0) return { ...event, bytes };
  if (seen >= bytes) return undefined;
  const text = new TextDecoder().decode(encoded.slice(seen));
  return { ...event, offset: next, bytes: bytes - seen, text };
};

/** Where the server does not know it: that of a program which SIGKILL ended. */
const unknownExitCode = 137;

export const exitOf = ({ exitCode, signal, lost, outputLost }: ProcessEnd): ProcessExit => ({
  exitCode: exitCode ?? unknownExitCode,
  ...(signal === undefined ? {} : { signal }),
  ...(lost === undefined ? {} : { isLost: true }),
  ...(outputLost === undefined ? {} : { isOutputLost: true }),
});
