/**
 * Calls the model once: streams its text to the audience and gives the whole answer as the turn's next event.
 *
 * Repeatable by nature: a call cut by a crash is made again under a new message id, and its half text is
 * dropped. Failures become events too; nothing is thrown for what a provider does.
 */
import { unnumberedFrame } from '../contracts/frames.ts';
import type { AskedCall } from '../domain/asked-call.ts';
import { droppedByTruncation } from '../domain/history.ts';
import type { CallId, MessageId } from '../domain/ids.ts';
import { answerBytesMax, clientIdCharactersMax } from '../domain/limits.ts';
import type { AnswerEnd, ModelChunk, ModelRequest, TokenUsage } from '../domain/model.ts';
import { utf8Bytes } from '../domain/text.ts';
import { sandboxTools, systemPrompt } from '../domain/tools.ts';
import type { Thinking, TurnEvent } from '../domain/turn/turn.ts';
import { AppError, isAppError } from '../errors.ts';
import type { ModelProviders } from '../ports/model-provider.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { World } from '../ports/world.ts';
import { currentMessage, type Desk, type DeskLimits } from './desk.ts';
import { openTextRelay } from './text-relay.ts';

export type ModelPorts = {
  readonly models: ModelProviders;
  readonly telemetry: Telemetry;
  readonly world: World;
};

type Answer = { text: string; calls: AskedCall[]; end: AnswerEnd; usage: TokenUsage; bytes: number };

export const callModel = async (
  ports: ModelPorts,
  {
    desk,
    state,
    limits,
    outputTokensMax,
    signal,
  }: {
    desk: Desk;
    state: Thinking;
    limits: DeskLimits;
    outputTokensMax: number;
    signal: AbortSignal;
  },
): Promise<TurnEvent> => {
  const { world } = ports;
  const request: ModelRequest = {
    model: currentMessage(desk)?.model ?? desk.session.model,
    system: systemPrompt,
    tools: sandboxTools,
    history: desk.history.slice(droppedByTruncation(desk.history, limits.history)),
    outputTokensMax,
  };
  const messageId = world.uuid() as MessageId;
  try {
    const answer = await streamAnswer(ports, { desk, request, messageId, signal });
    const { text, calls, end, usage } = answer;
    return { type: 'model-answered', at: world.now(), step: state.step, messageId, text, calls, end, usage };
  } catch (error) {
    ports.telemetry.warn('a model call failed', { error });
    const { code, message } = isAppError(error)
      ? error
      : { code: 'internal_error', message: 'the model call failed on our side' };
    return { type: 'model-failed', at: world.now(), step: state.step, code, message };
  }
};

const streamAnswer = async (
  { models, world }: ModelPorts,
  {
    desk,
    request,
    messageId,
    signal,
  }: {
    desk: Desk;
    request: ModelRequest;
    messageId: MessageId;
    signal: AbortSignal;
  },
): Promise<Answer> => {
  const { audience, session } = desk;
  const relay = openTextRelay({ audience, world, lengthOf: (text) => text.length }, (id: MessageId, piece) =>
    unnumberedFrame('delta', { sessionId: session.id, at: world.now(), data: { messageId: id, ...piece } }),
  );
  const provider = await models.open(session.provider);
  const answer: Answer = {
    text: '',
    calls: [],
    end: 'end_turn',
    usage: { inputTokens: 0, outputTokens: 0 },
    bytes: 0,
  };
  for await (const chunk of provider.stream(request, signal)) {
    if (chunk.type === 'text') relay.push(messageId, { offset: answer.text.length, text: chunk.text });
    take(answer, chunk, world.now());
  }
  await relay.flush();
  return answer;
};

const take = (answer: Answer, chunk: ModelChunk, now: number): void => {
  switch (chunk.type) {
    case 'text':
      answer.text += chunk.text;
      answer.bytes += utf8Bytes(chunk.text);
      break;
    case 'call': {
      const callId = isUsable(chunk.callId) ? chunk.callId : (`call_${now}_${answer.calls.length}` as CallId);
      answer.calls.push({ callId, name: chunk.name, args: chunk.args });
      answer.bytes += utf8Bytes(JSON.stringify(chunk.args));
      break;
    }
    case 'end':
      answer.end = chunk.end;
      answer.usage = chunk.usage;
      break;
  }
  if (answer.bytes > answerBytesMax)
    throw new AppError('content_refused', `the model's answer is over ${answerBytesMax} bytes`);
};

/** A client must be able to name the call when it approves it. */
const isUsable = (callId: CallId | undefined): callId is CallId =>
  callId !== undefined && callId !== '' && callId.length <= clientIdCharactersMax;
