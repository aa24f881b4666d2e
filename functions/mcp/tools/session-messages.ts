/**
 * `session message` and `session spawn`: sends a message to an agent; a client that waits receives its events
 * until it has answered.
 */

import type * as z from 'zod';
import { awaitCompletion, sentBefore, type ToldEvent } from '#shared/application/session/await-completion.ts';
import {
  type Conversed,
  messageSession,
  messageWorkspace,
  type Speech,
  spawnSession,
} from '#shared/application/session/converse.ts';
import { declareTools, refuseTaken } from '#shared/application/turn/requests/caller-tools.ts';
import { networkOf } from '#shared/contracts/rest/network.ts';
import {
  conversedResult,
  messageArguments,
  spawnArguments,
} from '#shared/contracts/tools/session-tool/converse.ts';
import { completionWaitMsMax } from '#shared/domain/limits.ts';
import { approvalsOf } from '#shared/domain/project.ts';
import { defineAction } from '../action-tool.ts';
import type { ToolContext } from '../define-tool.ts';
import { pendingApprovals, toldData, usageView } from './session-views.ts';

type Arguments = z.output<typeof messageArguments> | z.output<typeof spawnArguments>;
type Result = z.output<typeof conversedResult>;

export const message = defineAction({
  needs: 'own:write',
  input: messageArguments,
  output: conversedResult,
  run: async (input, context) => {
    const said = { ...speechOf(input, context), text: input.message };
    const { session_id: id } = input;
    const conversed =
      id === undefined
        ? await messageWorkspace(context.ports, said)
        : await messageSession(context.ports, { ...said, id });
    return answer(conversed, input, context);
  },
});

export const spawn = defineAction({
  needs: 'own:write',
  input: spawnArguments,
  output: conversedResult,
  run: async (input, context) => {
    const { message: text, new_session: newSession } = input;
    const said = { ...speechOf(input, context), text, newSession };
    return answer(await spawnSession(context.ports, said), input, context);
  },
});

const speechOf = (input: Arguments, { ports, principal, settings }: ToolContext): Speech => ({
  principal,
  project: input.project_id,
  ref: {
    id: input.workspace_id,
    creates: input.create_workspace,
    externalId: input.external_id,
    source: input.source,
  },
  options: {
    model: input.model,
    thinking: input.thinking,
    runtime: input.runtime,
    flavor: input.flavor,
    template: input.template,
    approvals: input.approvals ?? (input.autonomy_level && approvalsOf(input.autonomy_level)),
    allowedTools: input.tools_allowed,
    disabledTools: input.tools_disallowed,
    labels: input.labels,
    maxCostUsd: input.max_cost_usd,
    ...(input.network === undefined ? {} : { network: networkOf(input.network) }),
  },
  ...sealing(ports, input),
  defaults: settings.defaults,
  messageId: input.message_id,
  ...offering(ports, input),
});

const sealing = ({ environments }: ToolContext['ports'], { env = {} }: Arguments): Pick<Speech, 'sealFor'> =>
  Object.keys(env).length === 0 ? {} : { sealFor: (session) => environments.seal(session, env) };

const offering = (
  ports: ToolContext['ports'],
  { caller_id: callerId, caller_tools: tools }: Arguments,
): Pick<Speech, 'prepare'> => {
  if (callerId === undefined || tools === undefined) return {};
  const caller = { callerId, tools };
  refuseTaken(caller);
  return { prepare: (session) => declareTools(ports, session, caller) };
};

const answer = async (conversed: Conversed, input: Arguments, context: ToolContext): Promise<Result> => {
  const { session, spawned, workspaceCreated, lastEventIndex, messageId } = conversed;
  const result = {
    session_id: session.id,
    workspace_id: session.workspace,
    spawned,
    workspace_created: workspaceCreated,
    last_event_index: lastEventIndex,
    ...(messageId === undefined ? {} : { message_id: messageId }),
    summary: summaryOf(conversed),
  };
  if (!input.wait || messageId === undefined) return result;
  context.onSession(session.id);
  return { ...result, ...(await waitFor({ ...conversed, messageId }, input, context)) };
};

const summaryOf = ({ session, spawned, workspaceCreated }: Conversed): string =>
  `${spawned ? 'New session created' : 'Session resumed'}. Workspace: ${session.workspace}${workspaceCreated ? ' (created)' : ''}`;

const waitFor = async (
  {
    session,
    messageId,
    lastEventIndex,
    isRepeated,
  }: Conversed & { messageId: NonNullable<Conversed['messageId']> },
  { stop_at_approval: stopsAtApproval }: Arguments,
  { ports, signal, gone, tell, onPhase }: ToolContext,
): Promise<Partial<Result>> => {
  const asked = new AbortController();
  // A message that was sent before may have its answer already.
  const known = isRepeated ? await sentBefore(ports, session, messageId) : { since: lastEventIndex };
  const { completion, lastIndex, isForgotten } = await awaitCompletion(ports, {
    sessionId: session.id,
    messageId,
    ...known,
    waitMsMax: completionWaitMsMax,
    signal: AbortSignal.any([signal, gone, asked.signal]),
    onEvent: (event) => {
      onPhase(phaseOf(event));
      // A waiting call is progress, and in the answer: calls, outputs, errors and completions alone are
      // pushed.
      if (event.type !== 'tool:approval_required')
        tell(event.type === 'agent:error' ? 'error' : 'info', toldData(session.id, event));
      else if (stopsAtApproval) asked.abort();
    },
  });
  if (completion !== undefined) {
    const { stopReason, text, usage } = completion.data;
    const ended = { stop_reason: stopReason, text, usage: usageView(usage) };
    return { finished: true, last_event_index: lastIndex, ...ended, pending_approvals: [] };
  }
  if (isForgotten === true) return { finished: true, last_event_index: lastIndex, pending_approvals: [] };
  const found = await ports.turns.getWithTurn(session.id);
  return { finished: false, last_event_index: lastIndex, pending_approvals: pendingApprovals(found?.turn) };
};

const phaseOf = ({ type, data }: ToldEvent): string => ('name' in data ? `${type} ${data.name}` : type);
