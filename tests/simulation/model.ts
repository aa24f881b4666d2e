/**
 * A language model that says what chance tells it: text, calls, or neither; it is slow, cut off, refused or
 * overloaded as the world's faults have it. It checks that what it is asked is a conversation.
 */
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { ModelChunk, ModelRequest, TokenUsage } from '#shared/domain/model.ts';
import { sessionTool } from '#shared/domain/tools.ts';
import { AppError, type ErrorCode } from '#shared/errors.ts';
import type { ModelCaller, ModelProvider } from '#shared/ports/models.ts';
import type { Invocation } from './invocation.ts';
import { longText } from './long-text.ts';
import type { Random } from './random.ts';
import { remoteTool } from './registry.ts';
import { sessionArgs } from './session-calls.ts';
import type { Simulation } from './world.ts';

/** The tool that the client `ide` of some sessions offers. */
export const callerTool = 'ide_open';
const toolNames = [
  'execute_command',
  'execute_command',
  'read_file',
  'write_file',
  remoteTool,
  callerTool,
  'no_such_tool',
];
const passing: readonly ErrorCode[] = [
  'provider_rate_limited',
  'provider_overloaded',
  'provider_unavailable',
  'content_refused',
  'provider_auth_failed',
];

const uncharged = { context: { isUncharged: true } };
const longAnswerBytesMax = 330_000;
const longArgumentsBytesMax = 1_000_000;

export type Character = {
  /** Share of the model's calls that go to other agents: 0 to 1. */
  readonly delegates: number;
  /** It gives agents that it starts a part of the time of sandboxes. */
  readonly isSlicing: boolean;
  readonly onAsked: (history: readonly HistoryMessage[]) => void;
  /** Charged so much more, whoever hears of it: with the beginning of an answer for some end of it, with its end for the difference. */
  readonly onCharged: (outputTokens: number) => void;
  /** Its answer has begun, with what it reports of that. */
  readonly onBegun: (usage: TokenUsage) => void;
  /** Its answer has ended, with what it reports of it. */
  readonly onAnswered: (usage: TokenUsage) => void;
};

/** Less than it charges for, as a provider reports that tells the output with the end alone. */
const usageBegun: TokenUsage = { inputTokens: 10, outputTokens: 1 };

export const modelFor = (invocation: Invocation, character: Character): ModelProvider => ({
  stream: (request, signal, caller) => stream(invocation, request, { ...character, ...caller, signal }),
});

async function* stream(
  { sim, world }: Invocation,
  { history, outputTokensMax, tools }: ModelRequest,
  {
    signal,
    onAsked,
    onCharged,
    onBegun,
    onAnswered,
    onUsage,
    delegates,
    isSlicing,
  }: Character & ModelCaller & { readonly signal: AbortSignal },
): AsyncGenerator<ModelChunk> {
  const { random } = sim;
  onAsked(history);
  const wait = async (milliseconds: number): Promise<void> => {
    await world.sleep(milliseconds, signal);
    signal.throwIfAborted();
  };
  await wait(sim.fires('modelSlow') ? random.spread(1000, 120_000) : random.int(20, 1500));
  if (sim.fires('modelFails')) throw failure(random);
  if (sim.fires('modelTooLong')) throw new AppError('context_too_long', 'too long', uncharged);
  // Of an answer that is cut off the provider charges what it made, of which it has reported the beginning.
  const cutOffTokens = sim.further.int(1, outputTokensMax);
  onCharged(cutOffTokens);
  onBegun(usageBegun);
  onUsage?.(usageBegun);
  const step = history.length - history.findLastIndex(({ role }) => role === 'user');
  for (let piece = random.int(0, 2); piece > 0; piece -= 1) {
    yield { type: 'text', text: `word${piece} ` };
    if (sim.isBig && sim.further.chance(0.3))
      yield { type: 'text', text: longText(sim.further, longAnswerBytesMax) };
    await wait(random.int(5, 400));
    if (sim.fires('modelCut')) throw new AppError('provider_unavailable', 'the stream was cut');
  }
  const asks = random.chance(step === 1 ? 0.6 : 0.35) ? random.int(1, 3) : 0;
  for (let call = 0; call < asks; call += 1)
    yield inputAtTimes(
      sim,
      lengthened(sim, askedCall(random, { history, delegates, isSlicing, looksOnly: sim.isCalm })),
    );
  const ofClient = step === 1 ? callsOfClient(sim, tools) : [];
  yield* ofClient;
  const usage = { inputTokens: 10, outputTokens: random.int(1, outputTokensMax) };
  onCharged(usage.outputTokens - cutOffTokens);
  onAnswered(usage);
  yield { type: 'end', end: asks + ofClient.length > 0 ? 'tool_use' : 'end_turn', usage };
}

/** Several of its tool at times, so that they wait side by side. */
const callsOfClient = ({ further }: Simulation, tools: ModelRequest['tools']): readonly ModelChunk[] =>
  tools.some(({ name }) => name === callerTool) && further.chance(0.3)
    ? Array.from({ length: further.int(1, 3) }, () => ({
        ...{ type: 'call' as const, name: callerTool, args: { id: further.uuid() } },
      }))
    : [];

/** Arguments of a tool are long at times. */
const lengthened = ({ isBig, further }: Simulation, chunk: ModelChunk): ModelChunk => {
  if (!isBig || chunk.type !== 'call' || chunk.args['command'] === undefined || further.chance(0.7))
    return chunk;
  return { ...chunk, args: { ...chunk.args, command: longText(further, longArgumentsBytesMax) } };
};

/** Input to a process instead: a function performs it, and a person is asked about each. */
const inputAtTimes = ({ hasInput, further }: Simulation, chunk: ModelChunk): ModelChunk =>
  hasInput && chunk.type === 'call' && further.chance(0.2)
    ? { ...chunk, name: 'process', args: { action: 'input', process_id: further.uuid(), text: 'x' } }
    : chunk;

type Told = {
  readonly history: readonly HistoryMessage[];
  readonly delegates: number;
  readonly isSlicing: boolean;
  readonly looksOnly: boolean;
};

const askedCall = (random: Random, told: Told): ModelChunk => {
  const name = random.chance(told.delegates) ? sessionTool.name : random.pick(toolNames);
  const args = argsOf(random, name, told);
  if (random.chance(0.1)) return { type: 'call', name, args };
  const callId = random.chance(0.1) ? 'same' : `call-${random.uuid().slice(0, 8)}`;
  return { type: 'call', callId: callId as CallId, name, args };
};

const argsOf = (random: Random, name: string, told: Told): JsonObject => {
  if (name === sessionTool.name) return sessionArgs(random, told);
  if (name === remoteTool || name === callerTool) return { id: random.uuid() };
  if (name === 'read_file') return { path: 'x' };
  return name === 'write_file' ? { path: 'x', content: 'x' } : { command: 'x' };
};

const failure = (random: Random): AppError => {
  const code = random.pick(passing);
  const wait = random.chance(0.3) ? { retryAfter: random.int(1, 30) } : {};
  return new AppError(code, 'the provider said no', { context: { ...uncharged.context, ...wait } });
};
