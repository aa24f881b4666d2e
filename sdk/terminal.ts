/**
 * A terminal over the WebSocket: typed text goes in as numbered frames, output comes as it is printed. After a lost connection
 * it continues at the next byte, without a gap or a repeat.
 *
 * Text that still waited when a connection broke is reported as lost; a frame on its way may be lost as well. None is sent
 * twice.
 */
import type { ApiClient } from './api-client.ts';
import { type Connection, type ConnectionState, openConnection } from './connection.ts';
import { connectionLost, SallyportError } from './errors.ts';
import type { Frame, FrameOf, OutputPiece } from './frames.ts';
import { exitOf, type ProcessAddress, type ProcessExit, unseenPart } from './process-output.ts';
import { api, type TerminalSize } from './routes.ts';
import { openTerminalInput } from './terminal-input.ts';

export type TerminalOptions = {
  readonly size: TerminalSize;
  /** The first byte of the output that is wanted; absent: the oldest that is kept. */
  readonly offset?: number | undefined;
  readonly onOutput: (text: string) => void;
  /** The bytes between are no longer kept. */
  readonly onGap?: (from: number, to: number) => void;
  /** Nothing comes after it. */
  readonly onExit: (exit: ProcessExit) => void;
  readonly onState?: (state: ConnectionState) => void;
  /** Typed text was lost, or refused for this reason. */
  readonly onInputLost?: (error: SallyportError) => void;
};

export type Terminal = {
  /** False when there is no connection: the text is dropped. */
  readonly type: (text: string) => boolean;
  readonly resize: (size: TerminalSize) => void;
  /** For one that waits for its next try to connect. */
  readonly tryNow: () => void;
  /** Leaves the process running. */
  readonly close: () => void;
};

/** Refusals after which the frame numbers start again, on another connection. */
const passing: readonly string[] = ['rate_limited', 'conflict', 'sandbox_unavailable', 'internal_error'];
/** Such refusals in a row, without output or a quiet time between them. */
const refusalsMax = 5;
const refusalPauseMs = 1000;
const quietMs = 60_000;

export const openTerminal = (
  client: ApiClient,
  { sessionId, processId }: ProcessAddress,
  options: TerminalOptions,
): Terminal => {
  const { onExit, onState = ignore, onInputLost = ignore } = options;
  let size = sizeOf(options.size);
  const output = followPieces(options);
  let order = 0;
  let refusals = 0;
  let refusedAt = 0;
  let isOver = false;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;

  const send = (
    frame: { action: 'process:input'; text: string } | ({ action: 'process:resize' } & TerminalSize),
  ) => {
    const wasSent = connection.send({ ...frame, processId, order, offset: output.next() });
    if (wasSent) order += 1;
    return wasSent;
  };
  const input = openTerminalInput((text) => {
    if (!send({ action: 'process:input', text })) onInputLost(connectionLost());
  });

  const receive = (frame: Frame): void => {
    if (frame.type === 'process:output' && frame.data.processId === processId) {
      refusals = 0;
      output.take(frame.data);
    } else if (frame.type === 'process:exit' && frame.data.processId === processId) {
      close();
      onExit(exitOf(frame.data));
    } else if (frame.type === 'error' && (frame.data.processId ?? processId) === processId)
      // One that names no process is of a frame of this connection, too.
      refuse(frame.data);
  };

  const refuse = ({ error: facts, order: refused }: FrameOf<'error'>['data']): void => {
    const error = new SallyportError(0, facts);
    if (Date.now() - refusedAt > quietMs) refusals = 0;
    refusedAt = Date.now();
    if (!passing.includes(error.code) || refusals >= refusalsMax) {
      close();
      onState({ kind: 'ended', error });
      return;
    }
    if (retryTimer !== undefined) return;
    refusals += 1;
    input.clear();
    // The first frame is the size.
    if ((refused ?? order - 1) > 0) onInputLost(error);
    connection.close();
    retryTimer = setTimeout(() => {
      retryTimer = undefined;
      connection = connect();
    }, refusalPauseMs);
  };

  const connect = (): Connection =>
    openConnection(client, {
      greeting: 'system:ready',
      query: () => ({ sessionId }),
      probe: () => client.request(api.showSession, { params: { id: sessionId } }),
      onFrame: (frame) => {
        if (!isOver) receive(frame);
      },
      onState: (state) => {
        if (state.kind === 'lost' && input.clear()) onInputLost(connectionLost());
        if (state.kind === 'connected' && !isOver) {
          order = 0;
          send({ action: 'process:resize', ...size });
        }
        onState(state);
      },
    });

  const close = (): void => {
    isOver = true;
    clearTimeout(retryTimer);
    input.clear();
    connection.close();
  };

  let connection = connect();
  return {
    type: (text) => {
      if (isOver || !connection.isReady()) return false;
      input.type(text);
      return true;
    },
    resize: (wanted) => {
      if (wanted.cols === size.cols && wanted.rows === size.rows) return;
      size = sizeOf(wanted);
      if (!isOver && connection.isReady()) send({ action: 'process:resize', ...size });
    },
    tryNow: () => connection.tryNow(),
    close,
  };
};

/** Without what else the object may hold. */
const sizeOf = ({ cols, rows }: TerminalSize): TerminalSize => ({ cols, rows });

const followPieces = ({ offset = 0, onOutput, onGap = ignore }: TerminalOptions) => {
  let next = offset;
  return {
    next: () => next,
    take: (sent: OutputPiece): void => {
      const piece = unseenPart(sent, next);
      if (piece === undefined) return;
      if (piece.offset > next) onGap(next, piece.offset);
      next = piece.offset + piece.bytes;
      onOutput(piece.text);
    },
  };
};

const ignore = (): void => undefined;
