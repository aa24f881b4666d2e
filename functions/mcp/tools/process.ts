/** `process`: the programs that run in the background of a session's sandbox: listed, read, written to, signalled, ended. */
import { findSession } from '#shared/application/access/find-session.ts';
import {
  inputAction,
  killAction,
  listAction,
  outputAction,
  signalAction,
} from '#shared/application/process/process-actions.ts';
import {
  killProcessArguments,
  listProcessesArguments,
  listProcessesResult,
  processDoneResult,
  processInputArguments,
  processOutputArguments,
  processOutputResult,
  processSignalArguments,
} from '#shared/contracts/tools/process-tool.ts';
import { defineAction, defineActionTool } from '../action-tool.ts';
import type { ToolContext } from '../define-tool.ts';

const sessionOf = async ({ ports, principal, intent }: ToolContext, id: string) =>
  (await findSession(ports.turns, { id, principal, intent })).session;

const list = defineAction({
  needs: 'own:read',
  input: listProcessesArguments,
  output: listProcessesResult,
  run: async ({ session_id: id }, context) => listAction(context.ports, await sessionOf(context, id)),
});

const output = defineAction({
  needs: 'own:read',
  input: processOutputArguments,
  output: processOutputResult,
  run: async ({ session_id: id, ...asked }, context) => {
    const { ports, signal } = context;
    return outputAction(ports, await sessionOf(context, id), { ...asked, signal });
  },
});

const input = defineAction({
  needs: 'own:write',
  input: processInputArguments,
  output: processDoneResult,
  run: async ({ session_id: id, ...asked }, context) =>
    inputAction(context.ports, await sessionOf(context, id), asked),
});

const signal = defineAction({
  needs: 'own:write',
  input: processSignalArguments,
  output: processDoneResult,
  run: async ({ session_id: id, ...asked }, context) =>
    signalAction(context.ports, await sessionOf(context, id), asked),
});

const kill = defineAction({
  needs: 'own:write',
  input: killProcessArguments,
  output: processDoneResult,
  run: async ({ session_id: id, ...asked }, context) =>
    killAction(context.ports, await sessionOf(context, id), asked),
});

export const process = defineActionTool({
  name: 'process',
  description: 'Manages programs that execute_code and execute_command started in the background.',
  actions: { list, output, input, signal, kill },
  annotations: { title: 'Manage processes', destructiveHint: true, openWorldHint: false },
});
