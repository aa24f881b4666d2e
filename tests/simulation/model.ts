/**
 * A language model that says what chance tells it: text, calls, or neither; it is slow, cut off, refused or
 * overloaded as the world's faults have it. It checks that what it is asked is a conversation.
 */
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { CallId } from '#shared/domain/ids.ts';
import type { ModelChunk, ModelRequest } from '#shared/domain/model.ts';
import { AppError, type ErrorCode } from '#shared/errors.ts';
import type { ModelProvider } from '#shared/ports/model-provider.ts';
import type { Random } from './random.ts';
import { remoteTool } from './registry.ts';
import type { Invocation } from './world.ts';

/** What the client `ide` of some sessions offers. */
export const callerTool = 'ide_open';
const usage = { inputTokens: 10, outputTokens: 5 };
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

export const modelFor = (
  invocation: Invocation,
  onAsked: (history: readonly HistoryMessage[]) => void,
): ModelProvider => ({
  stream: (request, signal) => stream(invocation, request, { signal, onAsked }),
});

async function* stream(
  { sim, world }: Invocation,
  { history }: ModelRequest,
  { signal, onAsked }: { signal: AbortSignal; onAsked: (history: readonly HistoryMessage[]) => void },
): AsyncGenerator<ModelChunk> {
  const { random, faults } = sim;
  onAsked(history);
  const wait = async (milliseconds: number): Promise<void> => {
    await world.sleep(milliseconds, signal);
    signal.throwIfAborted();
  };
  await wait(random.chance(faults.modelSlow) ? random.spread(1000, 120_000) : random.int(20, 1500));
  if (random.chance(faults.modelFails)) throw failure(random);
  if (random.chance(faults.modelTooLong)) throw new AppError('context_too_long', 'too long');
  const step = history.length - history.findLastIndex(({ role }) => role === 'user');
  for (let piece = random.int(0, 2); piece > 0; piece -= 1) {
    yield { type: 'text', text: `word${piece} ` };
    await wait(random.int(5, 400));
    if (random.chance(faults.modelCut)) throw new AppError('provider_unavailable', 'the stream was cut');
  }
  const asks = random.chance(step === 1 ? 0.6 : 0.35) ? random.int(1, 3) : 0;
  for (let call = 0; call < asks; call += 1) yield askedCall(random);
  yield { type: 'end', end: asks > 0 ? 'tool_use' : 'end_turn', usage };
}

const askedCall = (random: Random): ModelChunk => {
  const name = random.pick(toolNames);
  const args = name === remoteTool || name === callerTool ? { id: random.uuid() } : { command: 'x' };
  if (random.chance(0.1)) return { type: 'call', name, args };
  const callId = random.chance(0.1) ? 'same' : `call-${random.uuid().slice(0, 8)}`;
  return { type: 'call', callId: callId as CallId, name, args };
};

const failure = (random: Random): AppError => {
  const code = random.pick(passing);
  const context = random.chance(0.3) ? { retryAfter: random.int(1, 30) } : {};
  return new AppError(code, 'the provider said no', { context });
};
