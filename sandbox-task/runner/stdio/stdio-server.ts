/**
 * One MCP server of the user, from its start to its end.
 *
 * Lines of its stdout that are not messages are logged and skipped. It is ended when it does not answer the handshake;
 * processes that it leaves behind are killed.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { killMarked } from '../call-processes.ts';
import { type Handshake, initialize } from './mcp-client.ts';
import { createRpcPeer, type RpcPeer, StdioError } from './rpc-peer.ts';
import { logLineBytesMax, type StdioLogger } from './stdio-log.ts';
import {
  lineBytesMax,
  type StdioProcess,
  type StdioProcessStart,
  startStdioProcess,
} from './stdio-process.ts';

export type StdioServer = {
  /** Its processes are found by it. */
  readonly mark: number;
  readonly peer: RpcPeer;
  /** Rejects with the reason why it could not be started, or did not answer the handshake. */
  readonly ready: Promise<Handshake>;
  /** No process of it is left. */
  readonly ended: Promise<void>;
  readonly stderrTail: StdioLogger['stderrTail'];
  readonly redact: StdioLogger['redact'];
  /** Its calls fail with this cause. False when a process of it survives. */
  readonly kill: (cause: StdioError) => Promise<boolean>;
  /** Closes its input, and kills it after two seconds. */
  readonly retire: () => void;
};

const startMsMax = 60_000;
const retireMsMax = 2000;
const invalidLinesMax = 20;

export const startStdioServer = (start: StdioProcessStart, logger: StdioLogger): StdioServer => {
  const { mark } = start;
  let running: StdioProcess | undefined;
  let invalidLines = 0;
  const peer = createRpcPeer({
    write: (line) => running?.write(line) ?? false,
    onInvalid: (line) => {
      invalidLines += 1;
      if (invalidLines <= invalidLinesMax)
        logger.note(`[no message] ${line.toString('utf8', 0, logLineBytesMax)}`);
    },
  });
  const kill = (cause: StdioError): Promise<boolean> => {
    peer.fail(cause);
    return killMarked(mark);
  };
  const launched = startStdioProcess(start, {
    onLine: peer.receive,
    // It is unknown to which request this was the answer.
    onOverlong: () => peer.failOpen(new StdioError('protocol', `it wrote a line over ${lineBytesMax} bytes`)),
    onStderr: logger.push,
  });
  const follow = async (): Promise<void> => {
    running = await launched;
    const how = await running.died;
    logger.note(`[ended] ${how}`);
    logger.flush();
    await kill(new StdioError('died', how));
  };
  const ended = follow().catch((cause: unknown) => peer.fail(toStdioError(cause)));
  const speak = async (): Promise<Handshake> => {
    running = await launched;
    const noise = (): string =>
      invalidLines === 0 ? '' : `, but wrote ${invalidLines} lines that are no messages`;
    const timeout = delay(startMsMax, undefined, { ref: false }).then(() => {
      throw new StdioError(
        'protocol',
        `it did not answer initialize within ${startMsMax / 1000} s${noise()}`,
      );
    });
    return Promise.race([initialize(peer), timeout]);
  };
  const ready = speak();
  ready.catch((cause: unknown) => kill(toStdioError(cause)));
  return {
    mark,
    peer,
    ready,
    ended,
    stderrTail: logger.stderrTail,
    redact: logger.redact,
    kill,
    retire: () => {
      running?.closeInput();
      const timeout = setTimeout(() => void kill(new StdioError('died', 'it was ended')), retireMsMax);
      void ended.then(() => clearTimeout(timeout));
    },
  };
};

const toStdioError = (cause: unknown): StdioError =>
  cause instanceof StdioError ? cause : new StdioError('start', 'it could not be started');
