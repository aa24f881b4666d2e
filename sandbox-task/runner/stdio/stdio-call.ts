/**
 * The call of an MCP server: one request to its answer, or to the reason of its failure; progress in batches.
 *
 * On a timeout or a cancel the request is withdrawn, and the MCP server lives on with its state, unless it does not answer
 * a ping within two seconds: then it is killed, as it is at once over a memory or process limit. A call that finds an MCP
 * server starting does not end that start. Guarantee W13 of docs/spec/sandbox.md.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { firstCharacters } from '#shared/domain/text.ts';
import {
  type KillCause,
  type StdioAnswer,
  type StdioFailure,
  stdioMessageCharactersMax,
} from '../../wire/messages.ts';
import type { StdioWork } from '../../wire/program-messages.ts';
import type { Call } from '../call.ts';
import type { Send } from '../call-output.ts';
import { FileRefusal } from '../workspace-path.ts';
import { askServer } from './mcp-client.ts';
import { type RpcRequest, StdioError } from './rpc-peer.ts';
import type { AcquiredServer, StdioPool } from './stdio-pool.ts';
import type { StdioServer } from './stdio-server.ts';
import type { ToolAnswer, ToolList } from './tool-answer.ts';

type StdioCallStart = {
  readonly id: number;
  readonly timeoutMs: number;
  readonly work: StdioWork;
  /** Called as the call ends: kills it if its MCP server is what fills the sandbox. */
  readonly checkLimits: () => void;
};

/** An MCP server must answer a ping within this time after a call was withdrawn, in milliseconds. */
const pongMsMax = 2000;

/** Throws when the pool of MCP servers is full. */
export const startStdioCall = (start: StdioCallStart, pool: StdioPool, send: Send): Call => {
  const acquired = pool.acquire(start.work.server, start.id);
  const { server } = acquired;
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => undefined);
  let isStopped = false;
  let question: RpcRequest | undefined;
  let isEnded: Promise<boolean> = Promise.resolve(true);
  const kill = (cause: KillCause): void => {
    if (isStopped) return;
    isStopped = true;
    const why = new StdioError(cause, describeStop(cause, question !== undefined));
    if (cause === 'memory' || cause === 'processes') isEnded = server.kill(why);
    else if (question !== undefined) isEnded = withdraw(server, question, why);
    stopped.reject(why);
  };
  const progress = openProgress((text) => send({ type: 'stdio-progress', id: start.id }, text));
  const work = async (): Promise<ToolList | ToolAnswer> => {
    const handshake = await server.ready;
    const onRequest = (request: RpcRequest): void => {
      question = request;
    };
    if (isStopped) return stopped.promise;
    return askServer(start.work.ask, { peer: server.peer, handshake, onRequest, onProgress: progress.push });
  };
  const run = async (): Promise<void> => {
    const startedAt = performance.now();
    const limit = setTimeout(() => kill('timeout'), start.timeoutMs);
    const about = { id: start.id, isFresh: acquired.isFresh };
    try {
      const answer = await Promise.race([work(), stopped.promise]);
      progress.close();
      sendAnswer(send, answer, { ...about, durationMs: Math.round(performance.now() - startedAt) });
      start.checkLimits();
    } catch (cause) {
      if (cause instanceof FileRefusal) throw cause;
      progress.close();
      start.checkLimits();
      const areAllEnded = await isEnded;
      send(
        failureOf(cause, {
          ...about,
          server,
          hasRun: question !== undefined && start.work.ask.type === 'call',
          isEnded: areAllEnded,
        }),
      );
    } finally {
      clearTimeout(limit);
      acquired.release();
    }
  };
  return { mark: server.mark, kill, ended: run() };
};

/** True unless a process of a killed server resists. */
const withdraw = async (server: StdioServer, question: RpcRequest, why: StdioError): Promise<boolean> => {
  question.forget();
  server.peer.notify('notifications/cancelled', { requestId: question.id, reason: why.message });
  return (await answersPing(server)) || server.kill(why);
};

/** An error is an answer, too: the newest revision has no ping. */
const answersPing = async ({ peer }: StdioServer): Promise<boolean> => {
  try {
    const ping = peer.ask('ping', {});
    const pong = await Promise.race([ping.answer, delay(pongMsMax, undefined, { ref: false })]);
    ping.forget();
    return pong !== undefined;
  } catch {
    return false;
  }
};

const describeStop = (cause: KillCause, hasRun: boolean): string => {
  const during = hasRun ? '' : ' while the MCP server was starting: it has not answered initialize';
  return `${cause === 'timeout' ? 'timed out' : cause}${during}`;
};

type About = { readonly id: number; readonly isFresh: boolean; readonly durationMs: number };

const sendAnswer = (send: Send, answer: ToolList | ToolAnswer, { durationMs, ...about }: About): void => {
  if ('json' in answer) {
    send({ type: 'stdio-tools', ...about, leftOut: answer.leftOut }, answer.json);
    return;
  }
  const { blocks, structured, isError, errorCode, isCut } = answer;
  send(
    {
      ...{ type: 'stdio-result', ...about, durationMs, isError, errorCode, isCut },
      blocks: blocks.map(({ mimeType, content }) => ({ mimeType, bytes: content.length })),
      structuredBytes: structured.length,
    },
    Buffer.concat([...blocks.map(({ content }) => content), structured]),
  );
};

type Failed = Pick<AcquiredServer, 'server'> & {
  readonly id: number;
  readonly isFresh: boolean;
  readonly hasRun: boolean;
  readonly isEnded: boolean;
};

const failureOf = (cause: unknown, { server, ...about }: Failed): StdioAnswer => {
  const isKnown = cause instanceof StdioError;
  const failure: StdioFailure = isKnown ? cause.failure : 'protocol';
  const message = isKnown ? server.redact(cause.message) : 'its answer cannot be read';
  return {
    type: 'stdio-failure',
    ...about,
    failure,
    // It may name a path of the caller's.
    message: firstCharacters(message, stdioMessageCharactersMax),
    stderrTail: server.stderrTail(),
    isLost: server.peer.hasFailed(),
  };
};

type StdioProgress = { readonly push: (text: string) => void; readonly close: () => void };

const batchMs = 50;
const batchCharactersMax = 4096;
const lineCharactersMax = 1000;

const openProgress = (send: (text: Buffer) => void): StdioProgress => {
  let batch = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (batch !== '') send(Buffer.from(batch));
    batch = '';
  };
  return {
    push: (text) => {
      const line = `${firstCharacters(text, lineCharactersMax)}\n`;
      if (batch.length + line.length <= batchCharactersMax) batch += line;
      timer ??= setTimeout(flush, batchMs);
    },
    close: flush,
  };
};
