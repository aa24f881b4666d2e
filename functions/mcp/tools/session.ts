/**
 * `session`: agents in workspaces: messages to them, their events, and here decisions about their calls (`approve`,
 * `cancel`, `retry`) and their end (`end`, `cleanup`).
 */
import { findSession } from '#shared/application/access/find-session.ts';
import { cleanUpSessions } from '#shared/application/session/clean-up-sessions.ts';
import { type CancelledTree, cancelTree } from '#shared/application/turn/requests/cancel-turn.ts';
import { decideCall } from '#shared/application/turn/requests/decide-call.ts';
import { endSession } from '#shared/application/turn/requests/end-session.ts';
import { retryTurn } from '#shared/application/turn/requests/retry-turn.ts';
import {
  approveArguments,
  cleanupArguments,
  cleanupResult,
  doneResult,
} from '#shared/contracts/tools/session-tool/control.ts';
import { ofSessionArguments } from '#shared/contracts/tools/session-tool/read.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { callsPerAnswerMax } from '#shared/domain/limits.ts';
import type { Remember } from '#shared/domain/turn/grant.ts';
import { defineAction, defineActionTool } from '../action-tool.ts';
import type { ToolContext } from '../define-tool.ts';
import { message, spawn } from './session-messages.ts';
import { events, get, list } from './session-views.ts';

const done = async ({ ports }: ToolContext, id: SessionId, message: string) => ({
  session_id: id,
  status: (await ports.sessions.get(id))?.status ?? 'stopped',
  message,
});

/** Older clients send `true` for `session`. */
const rememberOf = (remember: boolean | Remember | undefined): Remember | undefined =>
  typeof remember === 'boolean' ? (remember ? 'session' : undefined) : remember;

const approve = defineAction({
  needs: 'own:write',
  input: approveArguments,
  output: doneResult,
  run: async (
    {
      session_id: sessionId,
      call_id: callId,
      turn_id: turnId,
      effect_digest: effectDigest,
      remember,
      args,
      ...rest
    },
    context,
  ) => {
    const { ports, principal, intent, settings } = context;
    const find = () => findSession(ports.turns, { id: sessionId, principal, intent });
    const { stepsPerTurnMax: stepsMax, costUsdMax: usdMax } = settings.limits;
    const limits = { stepsMax, usdMax, callsMax: callsPerAnswerMax };
    const decisionOf = () => ({
      ...rest,
      ...{ callId, turnId, effectDigest, remember: rememberOf(remember) },
      // The arguments of a tool come as JSON.
      args: args as JsonObject | undefined,
    });
    await decideCall(ports, { sessionId, callId, find, decisionOf, principal, limits });
    const message = rest.approved ? 'the call is approved' : 'the call is rejected';
    return done(context, sessionId as SessionId, message);
  },
});

const cancelMessages: Readonly<Record<CancelledTree, string>> = {
  turn: 'its turn is cancelled',
  below: 'it had no turn to cancel; those of sessions under it are cancelled',
  nothing: 'it had no turn to cancel',
};

const cancel = defineAction({
  needs: 'own:write',
  input: ofSessionArguments,
  output: doneResult,
  run: async ({ session_id: id }, context) => {
    const { ports, principal, intent } = context;
    const { session } = await findSession(ports.turns, { id, principal, intent });
    return done(context, session.id, cancelMessages[await cancelTree(ports, session.id)]);
  },
});

const retry = defineAction({
  needs: 'own:write',
  input: ofSessionArguments,
  output: doneResult,
  run: async ({ session_id: id }, context) => {
    const { ports, principal, intent } = context;
    const found = await findSession(ports.turns, { id, principal, intent });
    await retryTurn(ports, found);
    return done(context, found.session.id, 'the message of its failed turn is repeated');
  },
});

const end = defineAction({
  needs: 'own:write',
  input: ofSessionArguments,
  output: doneResult,
  run: async ({ session_id: id }, context) => {
    const { ports, principal, intent } = context;
    const { session } = await findSession(ports.turns, { id, principal, intent });
    const isEnded = await endSession(ports, session, { reason: 'ended by its client' });
    return done(context, session.id, isEnded ? 'the session has ended' : 'the session had ended before');
  },
});

const hourMs = 3_600_000;

const cleanup = defineAction({
  needs: 'own:write',
  input: cleanupArguments,
  output: cleanupResult,
  run: async ({ project_id: project, max_age_hours: hours }, { ports, principal }) => {
    const forgetFiles = (workspace: Parameters<typeof ports.forgetter.forgetWorkspace>[0]) =>
      ports.forgetter.forgetWorkspace(workspace);
    const cleaned = await cleanUpSessions(
      { ...ports, forgetFiles },
      { principal, project, ageMsMin: hours * hourMs },
    );
    const message = `${cleaned.removed} session(s) older than ${hours} hours removed`;
    return { removed: cleaned.removed, has_more: cleaned.hasMore, message };
  },
});

export const session = defineActionTool({
  name: 'session',
  description:
    'Manages sessions: agents that work in a workspace with a sandbox. A message goes to the active session of the workspace, or to a new one; poll its events, or wait for the answer.',
  actions: { message, spawn, get, list, events, approve, cancel, retry, end, cleanup },
  fields: {
    message: 'Message to the agent.',
    project_id: 'Id of the project; absent: that of the token, or the default one (list and cleanup: all).',
  },
  annotations: { title: 'Work with agents', destructiveHint: true, openWorldHint: true },
});
