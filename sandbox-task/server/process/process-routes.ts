/** The routes of processes: each is one step on the registry or one question to the runner. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type * as z from 'zod';
import { describeIssues, inPlainWords } from '#shared/contracts/issue-text.ts';
import {
  frameConnectionHeader,
  frameOrderHeader,
  frameTimeHeader,
  processStart,
  type SandboxProcess,
  signalBody,
  terminalSize,
} from '#shared/contracts/process.ts';
import { relayWantedField } from '#shared/contracts/relay/wanted.ts';
import { asSavedHeader } from '#shared/contracts/sandbox-call.ts';
import { processCommandCharactersMax } from '#shared/domain/limits.ts';
import { relayHearerGapMs } from '#shared/domain/relay/limits.ts';
import { firstCharacters } from '#shared/domain/text.ts';
import type { AgentEndpoint } from '../agent/agent-endpoint.ts';
import { readBody, sendJson } from '../http-messages.ts';
import { Refusal } from '../refusal.ts';
import type { SandboxRelay } from '../relay/relay.ts';
import type { SavedState } from '../saved-state.ts';
import { expectAnswer } from '../user-side.ts';
import type { ArrivalOrder } from './arrival-order.ts';
import type { FrameOrder } from './frame-order.ts';
import type { InputMeter } from './input-meter.ts';

import { pieceBytesDefault, sendOutput } from './output-events.ts';
import type { ProcessEntry, ProcessRegistry } from './process-registry.ts';

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  readonly name: string;
};
type Parts = {
  readonly processes: ProcessRegistry;
  readonly agents: Pick<AgentEndpoint, 'isBusy'>;
  readonly relay: Pick<SandboxRelay, 'onWanted'>;
  readonly inputMeter: InputMeter;
  readonly frameOrder: FrameOrder;
  readonly arrivalOrder: ArrivalOrder;
  readonly savedState: SavedState;
};
type Serve = (parts: Parts, exchange: Exchange) => Promise<void> | void;

const startBytesMax = 8 * 1_048_576;
const inputBytesMax = 4 * 1_048_576;
const fieldsBytesMax = 4096;

export const processRoutes: readonly { readonly pattern: RegExp; readonly serve: Serve }[] = [
  {
    pattern: /^POST \/processes$/,
    serve: async (parts, { request, response }) => start(parts, request, response),
  },
  {
    pattern: /^GET \/processes$/,
    serve: ({ processes, agents }, { response }) => {
      // A program that carries a turn works like a call.
      const calls = processes.calls() + (agents.isBusy() ? 1 : 0);
      sendJson(response, { processes: processes.list().map(viewOf), calls });
    },
  },
  {
    pattern: /^GET \/processes\/([^/]+)$/,
    serve: ({ processes }, { response, name }) => sendJson(response, viewOf(processes.find(name))),
  },
  {
    pattern: /^DELETE \/processes\/([^/]+)$/,
    serve: async ({ processes }, { response, name }) => {
      const entry = processes.find(name);
      await endProcess(entry);
      response.writeHead(204).end();
    },
  },
  {
    pattern: /^GET \/processes\/([^/]+)\/result$/,
    serve: ({ processes }, { response, name }) => sendJson(response, resultOf(processes.find(name))),
  },
  {
    pattern: /^GET \/processes\/([^/]+)\/output$/,
    serve: ({ processes, relay }, { response, query, name }) => {
      const offset = query.get('offset') ?? '0';
      if (!/^\d{1,15}$/.test(offset)) throw new Refusal('invalid_request', 'offset is a number of bytes');
      const isFollowing = query.get('follow') !== '0';
      const isAttached = isFollowing && query.get('attach') !== '0';
      const reading = {
        offset: Number(offset),
        isFollowing,
        isAttached,
        isFirst: query.get('start') !== '0',
        sliceMs: readCount(query, 'slice'),
        pieceBytesMax: readCount(query, 'piece') || pieceBytesDefault,
      };
      return sendOutput(processes.find(name), response, { ...reading, relay });
    },
  },
  {
    pattern: /^POST \/processes\/([^/]+)\/stdin$/,
    serve: async (parts, { request, response, query, name }) => {
      const entry = parts.processes.find(name);
      const bytes = await readBody(request, inputBytesMax);
      parts.inputMeter.take(request.headers[frameConnectionHeader], bytes.length);
      const question = { type: 'write-input', isLast: query.get('eof') === '1' } as const;
      await writeInTurn(parts, { entry, request, write: () => askRunning(entry, question, bytes) });
      response.writeHead(204).end();
    },
  },
  {
    pattern: /^POST \/processes\/([^/]+)\/signal$/,
    serve: async ({ processes }, { request, response, name }) => {
      const entry = processes.find(name);
      const { signal } = await readFields(request, signalBody());
      await askRunning(entry, { type: 'signal-process', signal });
      response.writeHead(204).end();
    },
  },
  {
    pattern: /^POST \/processes\/([^/]+)\/resize$/,
    serve: async (parts, { request, response, name }) => {
      const entry = parts.processes.find(name);
      const size = await readFields(request, terminalSize);
      const question = { type: 'resize-process', ...size } as const;
      await writeInTurn(parts, { entry, request, write: () => askRunning(entry, question) });
      response.writeHead(204).end();
    },
  },
];

type Change = {
  readonly entry: ProcessEntry;
  readonly request: IncomingMessage;
  readonly write: () => Promise<void>;
};

/** The change of a frame takes effect by its number, or else by the time of its receipt. */
const writeInTurn = async (
  { frameOrder, arrivalOrder }: Parts,
  { entry: { processId }, request: { headers }, write }: Change,
): Promise<void> => {
  const { [frameConnectionHeader]: connection, [frameOrderHeader]: order, [frameTimeHeader]: at } = headers;
  if (typeof connection !== 'string') return write();
  const stream = `${connection} ${processId}`;
  if (order !== undefined) return frameOrder.write(stream, readNumber(order, 'order'), write);
  return arrivalOrder.write(stream, readNumber(at, 'time'), write);
};

const readNumber = (text: string | readonly string[] | undefined, name: string): number => {
  if (typeof text !== 'string' || !/^\d{1,15}$/.test(text))
    throw new Refusal('invalid_request', `the ${name} of a frame is a number`);
  return Number(text);
};

const readCount = (query: URLSearchParams, name: 'slice' | 'piece'): number | undefined => {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^\d{1,5}$/.test(text)) throw new Refusal('invalid_request', `${name} is a number`);
  return Number(text);
};

const start = async (
  { processes, relay, savedState }: Parts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const given = await readFields(request, processStart(), startBytesMax);
  const { id, command, args = [], cwd, env = {}, stdin, pty, timeoutMs, waitMs, relayAfterMs } = given;
  // Without these two options bash reads ~/.bashrc when its stdin looks like a network connection (bash(1), INVOCATION).
  const argv = args.length > 0 ? [command, ...args] : ['bash', '--norc', '--noprofile', '-c', command];
  const entry = await processes.start({
    id,
    command: firstCharacters([command, ...args].join(' '), processCommandCharactersMax),
    spec: { argv, cwd, env, pty, timeoutMs, isInputWhole: waitMs !== undefined },
    input: Buffer.from(stdin ?? '', 'base64'),
    isAwaited: waitMs !== undefined,
  });
  const { processId, pid, startedAt } = entry;
  if (waitMs === undefined) return sendJson(response, { processId, pid, startedAt }, 201);
  const waited = new AbortController();
  const { signal } = waited;
  const late = delay(waitMs, undefined, { signal }).catch(() => undefined);
  const wants = relayAfterMs === undefined ? never : relayWanted(relay, { afterMs: relayAfterMs, signal });
  const leave = (): void => {
    entry.waiting -= 1;
  };
  entry.waiting += 1;
  const isWanted = (await Promise.race([entry.ended, late, wants])) === relayWantedField;
  waited.abort();
  const wanted = isWanted ? { [relayWantedField]: true } : {};
  if (entry.endedAt === undefined) {
    setTimeout(leave, relayHearerGapMs).unref();
    sendJson(response, { processId, ...wanted }, 202);
  } else {
    leave();
    const result = resultOf(entry);
    const asSaved = await savedState(request);
    if (asSaved !== undefined) response.setHeader(asSavedHeader, asSaved);
    sendJson(response, result);
  }
};

const never = new Promise<never>(() => undefined);

type Wanting = { readonly afterMs: number; readonly signal: AbortSignal };

/** Resolves when a program wants the relay after that time; never once the signal is aborted. */
const relayWanted = async (
  relay: Pick<SandboxRelay, 'onWanted'>,
  { afterMs, signal }: Wanting,
): Promise<typeof relayWantedField> => {
  await delay(afterMs, undefined, { signal }).catch(() => undefined);
  if (signal.aborted) return never;
  const { promise, resolve } = Promise.withResolvers<typeof relayWantedField>();
  const stop = relay.onWanted(() => resolve(relayWantedField));
  signal.addEventListener('abort', stop, { once: true });
  return promise;
};

const readFields = async <S extends z.ZodType>(
  request: IncomingMessage,
  schema: S,
  bytesMax: number = fieldsBytesMax,
): Promise<z.output<S>> => {
  const text = (await readBody(request, bytesMax)).toString();
  const parsed = schema.safeParse(jsonOf(text), inPlainWords);
  if (parsed.success) return parsed.data;
  throw new Refusal('invalid_request', describeIssues(parsed.error.issues, 'the body'));
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Refusal('invalid_request', 'the body is not JSON', { cause });
  }
};

const endProcess = async ({ control, ended }: ProcessEntry): Promise<void> => {
  try {
    expectAnswer(await control.ask({ type: 'end-process' }), 'process-ended');
  } catch (cause) {
    // Its runner took all of them with it, also those that a program which has ended left behind.
    if (!control.isLost()) throw cause;
  }
  await ended;
};

type Question = Parameters<ProcessEntry['control']['ask']>[0];

const askRunning = async (entry: ProcessEntry, question: Question, payload?: Buffer): Promise<void> => {
  if (entry.endedAt !== undefined) throw new Refusal('conflict', 'the process has ended');
  expectAnswer(await entry.control.ask(question, payload), 'done');
};

const resultOf = (entry: ProcessEntry): object => {
  if (!entry.isAwaited)
    throw new Refusal('invalid_request', 'only a process that was started with waitMs has a result');
  if (entry.end === undefined) throw new Refusal('conflict', 'the process still runs');
  if (entry.isLost)
    throw new Refusal('tool_outcome_unknown', 'all processes of the sandbox were killed while this ran');
  if (entry.capture === undefined)
    throw new Refusal('tool_outcome_unknown', 'the process has ended, but its result is no longer stored');
  return entry.capture.resultOf(entry.end);
};

const viewOf = (entry: ProcessEntry): SandboxProcess => {
  const { processId, command, end, endedAt, isLost, pid, startedAt, isPty, attached } = entry;
  return {
    ...{ processId, command, pid, startedAt, isPty, attached },
    state: isLost ? 'lost' : endedAt === undefined ? 'running' : 'exited',
    ...(endedAt === undefined ? {} : { exitCode: end?.exitCode ?? null, endedAt }),
    ...(end?.signal == null ? {} : { signal: end.signal }),
  };
};
