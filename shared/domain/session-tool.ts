/** The tool by which an agent delegates work to other sessions, as a model sees it. The platform itself runs it. */
import type { ToolSpec } from './model.ts';

const text = (description: string) => ({ type: 'string', description });

export const agentActions = ['spawn', 'message', 'get', 'list', 'events', 'end'] as const;

/** True for an action that changes nothing. */
export const isLook = (action: unknown): boolean =>
  action === 'get' || action === 'list' || action === 'events';

export const sessionTool: ToolSpec = {
  name: 'session',
  description: [
    'Delegates work to another agent in a session of its own. `spawn` starts one with a prompt and returns its final answer;',
    'several calls in one answer run in parallel. `message` sends another prompt to a session that you started. With wait false',
    'both return the session id at once. `get`, `list` and `events` read such sessions; `end` ends one. Agents share your workspace',
    'and your budget, unless you ask for a workspace of their own, and know nothing but the prompt.',
  ].join(' '),
  inputSchema: {
    type: 'object',
    properties: {
      action: { type: 'string', enum: [...agentActions] },
      prompt: text('Complete task of the agent; for spawn and message.'),
      session_id: text('Id of the session; for message, get, events and end.'),
      wait: { type: 'boolean', description: 'True (the default): wait for the answer.' },
      model: text('Another model of your provider; for spawn and message.'),
      workspace: {
        type: 'string',
        enum: ['shared', 'own'],
        description: 'Workspace of the agent: yours (the default) or its own; for spawn.',
      },
      since_index: {
        type: 'integer',
        minimum: -1,
        description: 'Index after which events are returned; for events.',
      },
    },
    required: ['action'],
    additionalProperties: false,
  },
};
