/** One frame of a client: decoded, then passed to one use case. A refusal is an `error` frame; the connection stays open. */

import { stillHolds, unauthenticated } from '#shared/application/access/authenticate.ts';
import { enterSession } from '#shared/application/access/enter-session.ts';
import { type FoundSession, findSession, sessionNotFound } from '#shared/application/access/find-session.ts';
import type { FrameMeter } from '#shared/application/access/frame-meter.ts';
import { recordRefusal } from '#shared/application/access/record-refusal.ts';
import type { AwaitGreeting } from '#shared/application/connection/await-greeting.ts';
import type { AuditDeps, Deps, MessageDeps } from '#shared/application/deps.ts';
import { acceptMessage } from '#shared/application/turn/requests/accept-message.ts';
import { unnumberedFrame } from '#shared/contracts/frames.ts';
import { decodeAction, type SocketAction, socketAction } from '#shared/contracts/socket-actions.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { framesPerSecondMax } from '#shared/domain/limits.ts';
import type { Principal } from '#shared/domain/principal.ts';
import { rootSessionOf, type Session } from '#shared/domain/session.ts';
import type { TurnLimits } from '#shared/domain/turn/turn.ts';
import { AppError, errorBody, isAppError } from '#shared/errors.ts';
import type { TerminalPorts } from './answer-terminal.ts';
import type { SocketRequest } from './socket-request.ts';
import { isTerminalAction } from './terminal-action.ts';

export type FramePorts = MessageDeps &
  AuditDeps &
  Deps<'tokens' | 'adminTokenHash' | 'callers' | 'savedFiles'> &
  TerminalPorts & { readonly frameMeter: FrameMeter; readonly awaitGreeting: AwaitGreeting };

export type FrameSettings = {
  readonly limits: TurnLimits;
};

export const answerFrame = async (
  ports: FramePorts,
  request: SocketRequest,
  settings: FrameSettings,
): Promise<void> => {
  const verdict = await ports.frameMeter.take(request.connectionId, request.acceptedAt);
  if (verdict === 'quiet') return;
  let about: JsonObject = {};
  try {
    if (verdict === 'refused') throw tooManyFrames();
    const decoded = decodeAction(request.body);
    if (!decoded.ok) throw new AppError('invalid_request', decoded.problem, { suggestions: actionNames });
    about = subjectOf(decoded.value);
    await act(ports, request, { action: decoded.value, settings });
  } catch (error) {
    recordRefusal(ports.telemetry, error, { sessionId: request.sessionId });
    await post(ports, request, {
      type: 'error',
      data: { ...errorBody(error, request.correlationId), ...about },
    });
    if (isAppError(error) && error.code === 'unauthenticated')
      await ports.sockets.close(request.connectionId);
  }
};

/** Names what an `error` is about, where a connection sends many frames without an answer. */
const subjectOf = (action: SocketAction): JsonObject => {
  if (action.action === 'message')
    return action.messageId === undefined ? {} : { messageId: action.messageId };
  if (!isTerminalAction(action)) return {};
  const { processId, order } = action;
  return { processId, ...(order === undefined ? {} : { order }) };
};

const tooManyFrames = (): AppError =>
  new AppError(
    'rate_limited',
    `a connection may send ${framesPerSecondMax} frames a second: this frame and the following ones were ignored`,
    {
      suggestions: ['Send fewer frames, and resend the ignored ones.'],
      recoveryActions: ['wait_and_retry'],
    },
  );

const actionNames = [
  `Known actions: ${socketAction.options.map(({ shape }) => shape.action.value).join(', ')}.`,
];

const act = async (
  ports: FramePorts,
  request: SocketRequest,
  { action, settings }: { readonly action: SocketAction; readonly settings: FrameSettings },
): Promise<void> => {
  const { principal, sessionId, connectionId, acceptedAt } = request;
  if (action.action === 'ping') {
    if (!(await stillHolds(ports, principal))) throw unauthenticated();
    return post(ports, request, { type: 'pong', data: {} });
  }
  if (action.action === 'tool:approval') return decide(ports, request, { action, settings });
  if (sessionId === undefined) throw withoutSession();
  const found = await enterSession(ports, { id: sessionId, principal, intent: 'write' });
  if (action.action !== 'message') return actRarely(ports, request, { action, found, settings });
  const { text, messageId, model, thinking } = action;
  const { session, seen } = found;
  const attachments = await attachmentsOf(ports, session, action);
  await acceptMessage(ports, session, {
    text,
    messageId,
    model,
    thinking,
    attachments,
    connectionId,
    acceptedAt,
    seen,
  });
};

type Message = Extract<SocketAction, { action: 'message' }>;

const attachmentsOf = async (ports: FramePorts, session: Session, message: Message) => {
  if (message.attachments === undefined) return [];
  const { checkAttachments } = await import('./rare-actions.ts');
  return checkAttachments(ports, session, message);
};

type RareAction = Exclude<SocketAction, { action: 'ping' | 'tool:approval' | 'message' }>;

type RareRequest = {
  readonly action: RareAction;
  readonly found: FoundSession;
  readonly settings: FrameSettings;
};

const actRarely = async (
  ports: FramePorts,
  request: SocketRequest,
  { action, found, settings }: RareRequest,
): Promise<void> => {
  const { connectionId } = request;
  const { answerCall, answerTerminal, cancelTree, declareTools, endSession, resetHistory } = await import(
    './rare-actions.ts'
  );
  switch (action.action) {
    case 'turn:cancel':
      await cancelTree(ports, found.session.id);
      break;
    case 'history:reset':
      await resetHistory(ports, found);
      break;
    case 'caller_tools:declare': {
      const { callerId, tools } = action;
      await declareTools(ports, found.session, { callerId, tools, connectionId });
      const names = tools.map(({ name }) => `${callerId}_${name}`);
      await post(ports, request, { type: 'caller_tools:declared', data: { callerId, tools: names } });
      break;
    }
    case 'caller_tool:result': {
      const { requestId, result, error } = action;
      await answerCall(ports, found, { requestId, result, error, limits: settings.limits });
      break;
    }
    case 'process:input':
    case 'process:resize':
      // Its output follows by itself.
      if (!(await ports.awaitGreeting(request))) return ports.sockets.close(connectionId);
      await answerTerminal(ports, action, { session: found.session, ...request });
      break;
    case 'session:stop':
      await endSession(ports, found.session, { reason: 'the user stopped the session' });
      break;
  }
};

const withoutSession = (): AppError =>
  new AppError('invalid_request', 'this connection belongs to no session', {
    suggestions: ['Open one with ?sessionId=, or name the session of a tool:approval.'],
  });

type Approval = Extract<SocketAction, { action: 'tool:approval' }>;

const decide = async (
  ports: FramePorts,
  { principal, sessionId: own }: SocketRequest,
  { action, settings }: { readonly action: Approval; readonly settings: FrameSettings },
): Promise<void> => {
  const { action: _, sessionId: named, ...decision } = action;
  const sessionId = named ?? own;
  if (sessionId === undefined) throw withoutSession();
  const find = () => findDecided(ports, { principal, own, named });
  const { callId } = decision;
  const { limits } = settings;
  const { decideCall } = await import('./rare-actions.ts');
  const decisionOf = () => decision;
  await decideCall(ports, { sessionId, callId, find, decisionOf, principal, limits });
};

/**
 * A call of any session in the tree of the connection's session is decided here as well; any other session is not found. A
 * connection without one decides in every session that its principal may write.
 */
const findDecided = async (
  ports: FramePorts,
  {
    principal,
    own: ownId,
    named,
  }: { principal: Principal; own: string | undefined; named: string | undefined },
): Promise<FoundSession> => {
  const id = ownId ?? named ?? '';
  const found = await enterSession(ports, { id, principal, intent: 'write' });
  const own = found.session;
  if (ownId === undefined || named === undefined || named === own.id) return found;
  const other = await findSession(ports.turns, { id: named, principal, intent: 'write' });
  if (rootSessionOf(other.session) !== rootSessionOf(own)) throw sessionNotFound();
  return { ...other, seen: found.seen };
};

/** A client that takes no answer is closed, and one that was not greeted. */
const post = async (
  { sockets, world, awaitGreeting }: FramePorts,
  request: SocketRequest,
  { type, data }: { readonly type: 'error' | 'pong' | 'caller_tools:declared'; readonly data: JsonObject },
): Promise<void> => {
  const { connectionId, sessionId } = request;
  if (!(await awaitGreeting(request))) return sockets.close(connectionId);
  const frame = unnumberedFrame(type, { sessionId: sessionId ?? null, at: world.now(), data });
  // It would not learn what became of its frame: it connects again, and asks.
  if ((await sockets.post(connectionId, JSON.stringify(frame))) === 'slow') await sockets.close(connectionId);
};
