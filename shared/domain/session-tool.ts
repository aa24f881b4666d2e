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
    'Has another agent work for you in a session of its own. `spawn` starts one with a prompt and gives its final answer;',
    'several calls in one answer work in parallel. `message` says more to one you started. With wait false both answer at once',
    'with the session id. `get`, `list`, `events` look at them; `end` ends one. They share your workspace and your budget,',
    'unless you ask for a workspace of their own, and know nothing but the prompt.',
  ].join(' '),
  inputSchema: {
    type: 'object',
    properties: {
      action: { type: 'string', enum: [...agentActions] },
      prompt: text('What to do, whole: for spawn and message.'),
      session_id: text('Which one: for message, get, events and end.'),
      wait: { type: 'boolean', description: 'Whether to wait for the answer: true by default.' },
      model: text('Another model of your provider: for spawn and message.'),
      workspace: {
        type: 'string',
        enum: ['shared', 'own'],
        description: 'Whose files it works on: yours by default. For spawn.',
      },
      since_index: { type: 'integer', minimum: -1, description: 'Events after this number: for events.' },
    },
    required: ['action'],
    additionalProperties: false,
  },
};
