/**
 * Answers a call of a program inside a sandbox: the five methods of the relay's socket.
 *
 * The caller is the session for which the relay is held, if it lives and has the sandbox's workspace; its rights are in
 * `shared/domain/relay/sandbox-rights.ts`. A refusal is an answer with its code; an unexpected failure shows no details.
 */
import { findSession } from '#shared/application/access/find-session.ts';
import { recordRefusal } from '#shared/application/access/record-refusal.ts';
import { throttle } from '#shared/application/access/throttle.ts';
import type { Deps } from '#shared/application/deps.ts';
import { countToolCall } from '#shared/application/session/count-tool-call.ts';
import type { PlatformAnswer, PlatformCall } from '#shared/contracts/relay/platform-call.ts';
import { failureCodes, type RelayMethod } from '#shared/contracts/relay/rpc.ts';
import { sandboxPrincipal } from '#shared/domain/relay/sandbox-rights.ts';
import { isEnded } from '#shared/domain/session.ts';
import { AppError, errorBody, isAppError } from '#shared/errors.ts';
import type { McpPorts, McpSettings } from '../define-tool.ts';
import type { MethodContext } from './method-context.ts';
import { callerTool, sessionEvents, sessionMessage } from './session-methods.ts';
import { callPlatformTool, listPlatformTools } from './tool-methods.ts';

type Method = (params: unknown, context: MethodContext) => Promise<unknown>;

const methods: Readonly<Record<RelayMethod, Method>> = {
  session_message: sessionMessage,
  session_events: sessionEvents,
  caller_tool: callerTool,
  platform_tools: listPlatformTools,
  platform_call_tool: callPlatformTool,
};

/** As an agent's call of a tool does; a look at the list of tools, or at events, is none. */
const countedMethods: ReadonlySet<RelayMethod> = new Set([
  'session_message',
  'caller_tool',
  'platform_call_tool',
]);

type Answering = {
  readonly ports: McpPorts & Deps<'rateLimiter'>;
  readonly settings: McpSettings;
  readonly deadlineAt: number;
};

export const answerCall = async (call: PlatformCall, answering: Answering): Promise<PlatformAnswer> => {
  const { method, params } = call;
  if (!isMethod(method))
    return {
      error: {
        code: failureCodes.unknownMethod,
        message: `there is no method ${method}: ${Object.keys(methods).join(', ')}`,
      },
    };
  const { ports } = answering;
  try {
    const caller = await callerOf(ports, call);
    await throttle(ports, caller.principal);
    if (countedMethods.has(method)) await countToolCall(ports, caller.session);
    return { result: await methods[method](params, { ...answering, ...caller }) };
  } catch (error) {
    recordRefusal(ports.telemetry, error, { method });
    return { error: failureOf(error, call.correlationId) };
  }
};

const isMethod = (method: string): method is RelayMethod => Object.hasOwn(methods, method);

const callerOf = async (ports: McpPorts, { session: id, workspace }: PlatformCall) => {
  const record = await ports.sessions.get(id);
  if (record === undefined || record.workspace !== workspace || isEnded(record.status))
    throw new AppError('invalid_session_state', 'the session of this sandbox has ended');
  const principal = sandboxPrincipal(record);
  return { ...(await findSession(ports.turns, { id, principal, intent: 'write' })), principal };
};

const failureOf = (error: unknown, requestId: string): NonNullable<PlatformAnswer['error']> => {
  const { error: data } = errorBody(error, requestId);
  const isOfParams = isAppError(error) && error.code === 'invalid_request';
  return {
    code: isOfParams ? failureCodes.invalidParams : failureCodes.refused,
    message: data.message,
    data,
  };
};
