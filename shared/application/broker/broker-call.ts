/**
 * Makes the model call of a program inside a sandbox: with the operator's key, for the session, out of its tree's budget.
 *
 * A model without a known price is refused unless it is the session's own. The most that the call can cost is reserved before it
 * is made, and its real cost takes that place; a stream that would pass the limit ends with an error of its wire. Each refusal has the form
 * of the provider's own. Invariants BR1 to BR4: docs/spec/relay.md.
 */

import type { ModelAnswerHead, ModelRequestHead } from '../../contracts/relay/model-call.ts';
import { openMeter } from '../../domain/broker/meter.ts';
import { refusalBody } from '../../domain/broker/refusal.ts';
import { type BrokerCall, type BrokerRefusal, readBrokerCall } from '../../domain/broker/request.ts';
import type { SessionId, WorkspaceId } from '../../domain/ids.ts';
import { isUnchargedStatus, modelPrice } from '../../domain/price.ts';
import { sandboxPrincipal } from '../../domain/relay/sandbox-rights.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import { AppError, errorStatus, isAppError } from '../../errors.ts';
import { recordRefusal } from '../access/record-refusal.ts';
import { throttle } from '../access/throttle.ts';
import type { BrokerDeps } from '../deps.ts';
import { type Budget, openBudget } from './broker-call-budget.ts';
import { meteredBody } from './metered-body.ts';

export type ModelCall = ModelRequestHead & {
  /** For which the relay is held. */
  readonly session: SessionId;
  /** The workspace of the sandbox that asks. */
  readonly workspace: WorkspaceId;
  /** As the program wrote it. */
  readonly body: string;
  /** Aborted when the answer is no longer read. */
  readonly signal: AbortSignal;
  /** Of the function, in epoch milliseconds. */
  readonly deadlineAt: number;
};

export type ModelAnswer = ModelAnswerHead & { readonly body: string | ReadableStream<Uint8Array> };

const json = 'application/json';

export const brokerCall = async (ports: BrokerDeps, call: ModelCall): Promise<ModelAnswer> => {
  try {
    return await answerTo(ports, call);
  } catch (error) {
    call.signal.throwIfAborted();
    recordRefusal(ports.telemetry, error, { resource: `model ${call.provider}` });
    return refusalAnswer(call, refusalOf(error));
  }
};

const refusalOf = (error: unknown): BrokerRefusal => {
  if (!isAppError(error)) return { status: 500, message: 'the model call failed' };
  const status = error.code === 'resource_limit_exceeded' ? 402 : errorStatus(error);
  return { status, message: error.message };
};

const refusalAnswer = ({ provider }: Pick<ModelCall, 'provider'>, refusal: BrokerRefusal): ModelAnswer => ({
  status: refusal.status,
  contentType: json,
  body: JSON.stringify(refusalBody(provider, refusal)),
});

const answerTo = async (ports: BrokerDeps, request: ModelCall): Promise<ModelAnswer> => {
  const session = await sessionOf(ports, request);
  const { outputTokensMax } = ports.brokerSettings;
  const read = readBrokerCall({ ...request, body: jsonOf(request.body), outputTokensMax });
  if (!read.ok) return refusalAnswer(request, read.refusal);
  const { call } = read;
  refuseModel(session, call, ports.brokerSettings);
  if (call.isCount) return passOn(await ports.brokerWire.send(call, request.signal));
  const requestBytes = Buffer.byteLength(request.body);
  const opening = { session, call, requestBytes, deadlineAt: request.deadlineAt };
  const budget = await openBudget(ports, opening);
  const response = await sent(ports, budget, request.signal);
  if (response.ok) return metered({ response, budget, call, requestBytes });
  await budget.settle({ usage: noUsage, isKnown: isUnchargedStatus(response.status) });
  return passOn(response);
};

const noUsage = { inputTokens: 0, outputTokens: 0 };

/** A provider that cannot be reached may have got the request. */
const sent = async (ports: BrokerDeps, { call, settle }: Budget, signal: AbortSignal): Promise<Response> => {
  try {
    return await ports.brokerWire.send(call, signal);
  } catch (error) {
    const isUnsent = isAppError(error) && error.code === 'provider_not_configured';
    await settle({ usage: noUsage, isKnown: isUnsent });
    throw error;
  }
};

const sessionOf = async (ports: BrokerDeps, { session: id, workspace }: ModelCall): Promise<Session> => {
  const session = await ports.sessions.get(id);
  if (session === undefined || session.workspace !== workspace || isEnded(session.status))
    throw new AppError('invalid_session_state', 'the session of this sandbox has ended');
  if (session.kind !== 'agent') throw new AppError('forbidden', 'an execution session cannot call models');
  await throttle(ports, sandboxPrincipal(session));
  return session;
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The price table is the list of models: without a price no budget bounds what they cost. */
const refuseModel = (
  session: Session,
  { provider, model }: BrokerCall,
  { prices }: BrokerDeps['brokerSettings'],
): void => {
  const isOwn = session.provider === provider && session.model === model;
  if (isOwn || modelPrice({ provider, model }, prices) !== undefined) return;
  throw new AppError(
    'forbidden',
    `the model ${model} is not available here: it has no price and is not the model of this session`,
  );
};

/** Without the provider's own headers. */
const passOn = async (response: Response): Promise<ModelAnswer> => ({
  status: response.status,
  contentType: json,
  body: await response.text(),
});

type Answered = {
  readonly response: Response;
  readonly budget: Budget;
  readonly call: BrokerCall;
  readonly requestBytes: number;
};

const contentTypeCharactersMax = 200;

const metered = ({ response, budget, call, requestBytes }: Answered): ModelAnswer => {
  const { provider, isStreamed } = call;
  const { isOver, settle } = budget;
  const meter = openMeter(provider, { isStreamed, requestBytes });
  const body = response.body ?? new Blob([]).stream();
  return {
    status: response.status,
    contentType: (response.headers.get('content-type') ?? json).slice(0, contentTypeCharactersMax),
    body: meteredBody(body, { provider, isStreamed, meter, isOver, settle }),
  };
};
