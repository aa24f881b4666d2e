/** One frame of a client: decoded, then one use case. A refusal is an `error` frame; the connection lives on. */

import { stillHolds, unauthenticated } from '#shared/application/access/authenticate.ts';
import { type EndPorts, endSession } from '#shared/application/session/end-session.ts';
import { type EnterPorts, enterSession } from '#shared/application/session/enter-session.ts';
import { resetHistory } from '#shared/application/session/reset-history.ts';
import { type AcceptPorts, acceptMessage } from '#shared/application/turn/accept-message.ts';
import { answerCall, type CallerPorts, declareTools } from '#shared/application/turn/caller-tools.ts';
import { cancelTurn } from '#shared/application/turn/cancel-turn.ts';
import { type DecidePorts, decideCall } from '#shared/application/turn/decide-call.ts';
import { decodeJson } from '#shared/contracts/decode.ts';
import { unnumberedFrame } from '#shared/contracts/frames.ts';
import { type SocketAction, socketAction } from '#shared/contracts/socket-actions.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { TurnLimits } from '#shared/domain/turn/turn.ts';
import { AppError, errorBody, isAppError } from '#shared/errors.ts';
import type { SocketRequest } from './socket-event.ts';

export type FramePorts = AcceptPorts & DecidePorts & EndPorts & EnterPorts & CallerPorts;

export type FrameSettings = {
  readonly limits: TurnLimits;
  /** Active agent sessions of one project. */
  readonly placesMax: number;
};

export const answerFrame = async (
  ports: FramePorts,
  request: SocketRequest,
  settings: FrameSettings,
): Promise<void> => {
  try {
    const decoded = decodeJson(socketAction, request.body);
    if (!decoded.ok) throw new AppError('invalid_request', decoded.problem, { suggestions: actionNames });
    await act(ports, request, { action: decoded.value, settings });
  } catch (error) {
    if (!isAppError(error)) ports.telemetry.error('a frame failed', { error });
    await post(ports, request, { type: 'error', data: errorBody(error, request.correlationId) });
    if (isAppError(error) && error.code === 'unauthenticated')
      await ports.sockets.close(request.connectionId);
  }
};

const actionNames = [
  `Known actions: ${socketAction.options.map(({ shape }) => shape.action.value).join(', ')}.`,
];

const act = async (
  ports: FramePorts,
  request: SocketRequest,
  { action, settings }: { readonly action: SocketAction; readonly settings: FrameSettings },
): Promise<void> => {
  const { principal, sessionId: id, connectionId, acceptedAt, correlationId } = request;
  if (action.action === 'ping') {
    if (!(await stillHolds(ports, principal))) throw unauthenticated();
    return post(ports, request, { type: 'pong', data: {} });
  }
  const found = await enterSession(ports, { id, principal, intent: 'write' });
  switch (action.action) {
    case 'message': {
      const { text, messageId, model } = action;
      const { placesMax } = settings;
      const message = { text, messageId, model, connectionId, acceptedAt, correlationId, placesMax };
      await acceptMessage(ports, found.session, message);
      break;
    }
    case 'tool:approval': {
      const { callId, approved, remember } = action;
      await decideCall(ports, found, {
        callId,
        approved,
        remember: remember === 'session',
        correlationId,
        limits: settings.limits,
      });
      break;
    }
    case 'turn:cancel':
      await cancelTurn(ports, found.session.id, correlationId);
      break;
    case 'history:reset':
      await resetHistory(ports, found);
      break;
    case 'caller_tools:declare': {
      const { callerId, tools } = action;
      await declareTools(ports, found.session, { callerId, tools, connectionId });
      break;
    }
    case 'caller_tool:result': {
      const { requestId, result, error } = action;
      await answerCall(ports, found, { requestId, result, error, correlationId, limits: settings.limits });
      break;
    }
    case 'session:stop':
      await endSession(ports, found.session, { reason: 'the user stopped the session', correlationId });
      break;
  }
};

const post = async (
  { sockets, world }: FramePorts,
  { connectionId, sessionId }: SocketRequest,
  { type, data }: { readonly type: 'error' | 'pong'; readonly data: JsonObject },
): Promise<void> => {
  const frame = unnumberedFrame(type, { sessionId: sessionId as SessionId, at: world.now(), data });
  await sockets.post(connectionId, JSON.stringify(frame));
};
