/**
 * `session_message`, `session_events` and `caller_tool`: agents that a program inside a sandbox starts, what happens in its own
 * session and theirs, and the tools of the session's clients.
 */
import { awaitCompletion } from '#shared/application/session/await-completion.ts';
import { callerCallFromSandbox } from '#shared/application/session/caller-call-from-sandbox.ts';
import { messageFromSandbox } from '#shared/application/session/message-from-sandbox.ts';
import {
  callerToolParams,
  sessionEventsParams,
  sessionMessageParams,
} from '#shared/contracts/relay/method-params.ts';
import { partOf } from '#shared/contracts/tools/slice-fields.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { completionWaitMsMax } from '#shared/domain/limits.ts';
import { eventsView, usageView } from '../tools/session-views.ts';
import { type MethodContext, neverAborted, paramsOf } from './method-context.ts';
import { sessionWithin } from './tool-methods.ts';

export const sessionMessage = async (params: unknown, context: MethodContext) => {
  const { ports, settings, session } = context;
  const given = paramsOf(sessionMessageParams, params);
  const { message: text, session_id: to, message_id: messageId, wait, ...options } = given;
  const { lifetimes, templates } = settings.defaults;
  const sent = await messageFromSandbox(ports, session, {
    ...{ ...options, text, to, messageId, limits: settings.limits, lifetimes, templates },
    part: partOf(given),
  });
  const result = {
    session_id: sent.session,
    spawned: sent.isSpawned,
    workspace_created: sent.isSpawned && given.workspace === 'own',
    last_event_index: sent.lastIndex,
    message_id: sent.message,
  };
  if (!wait) return result;
  const { completion, lastIndex, isForgotten } = await awaitCompletion(ports, {
    ...{ sessionId: sent.session, messageId: sent.message, since: sent.lastIndex },
    ...(sent.standing === undefined ? {} : { standing: sent.standing }),
    signal: neverAborted(),
    waitMsMax: completionWaitMsMax,
    onEvent: () => undefined,
  });
  if (completion === undefined)
    return { ...result, finished: isForgotten === true, last_event_index: lastIndex };
  const { stopReason, text: answer, usage } = completion.data;
  return {
    ...{ ...result, finished: true, last_event_index: lastIndex },
    ...{ stop_reason: stopReason, text: answer, usage: usageView(usage) },
  };
};

export const sessionEvents = async (params: unknown, context: MethodContext) => {
  const given = paramsOf(sessionEventsParams, params);
  const { session_id: id = context.session.id, since_index: since, max_events: eventsMax } = given;
  const session = await sessionWithin(context, id, 'own');
  return eventsView(context.ports, session, { since, eventsMax, withChildren: given.include_children });
};

export const callerTool = async (params: unknown, { ports, session, turn }: MethodContext) => {
  const { name, arguments: args } = paramsOf(callerToolParams, params);
  const call = { name, args: args as JsonObject };
  const { text, isError } = await callerCallFromSandbox(ports, { session, turn }, call);
  if (isError) return { content: [{ type: 'text', text }], isError };
  return { content: JSON.parse(text) as unknown, isError };
};
