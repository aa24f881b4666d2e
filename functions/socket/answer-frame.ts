/** One frame of a client: decoded, then one use case. A refusal is an `error` frame; the connection lives on. */
import { type AcceptPorts, acceptMessage } from '#shared/application/accept-message.ts';
import { holds, unauthenticated } from '#shared/application/authenticate.ts';
import { type DecidePorts, decideCall } from '#shared/application/decide-call.ts';
import { type EndPorts, endSession } from '#shared/application/end-session.ts';
import { findSession } from '#shared/application/find-session.ts';
import { decodeJson } from '#shared/contracts/decode.ts';
import { unnumberedFrame } from '#shared/contracts/frames.ts';
import { type SocketAction, socketAction } from '#shared/contracts/socket-actions.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import type { TurnLimits } from '#shared/domain/turn/turn.ts';
import { AppError, errorBody, isAppError } from '#shared/errors.ts';
import type { SocketRequest } from './socket-event.ts';

export type FramePorts = AcceptPorts & DecidePorts & EndPorts;

export type FrameSettings = { readonly adminTokenHash: string; readonly limits: TurnLimits };

export const answerFrame = async (
  ports: FramePorts,
  request: SocketRequest,
  settings: FrameSettings,
): Promise<void> => {
  try {
    if (!holds(settings.adminTokenHash, request.principal)) throw unauthenticated();
    const decoded = decodeJson(socketAction, request.body);
    if (!decoded.ok) throw new AppError('invalid_request', decoded.problem, { suggestions: actionNames });
    await act(ports, request, { action: decoded.value, limits: settings.limits });
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
  { action, limits }: { readonly action: SocketAction; readonly limits: TurnLimits },
): Promise<void> => {
  if (action.action === 'ping') return post(ports, request, { type: 'pong', data: {} });
  const { principal, sessionId: id, connectionId, acceptedAt, correlationId } = request;
  const found = await findSession(ports.sessions, { id, principal, intent: 'write' });
  switch (action.action) {
    case 'message': {
      const { text, messageId, model } = action;
      const message = { text, messageId, model, connectionId, acceptedAt, correlationId };
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
        limits,
      });
      break;
    }
    case 'session:stop':
      await endSession(ports, found.session.id, 'the user stopped the session');
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
