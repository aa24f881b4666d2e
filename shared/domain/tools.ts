/**
 * The tools that the platform itself offers an agent, and the system prompt: the sandbox's, whose contracts are in
 * contracts/tools/sandbox-tools.ts, `process` (contracts/tools/process-tool.ts), and `session`, by which an agent delegates
 * work to other sessions.
 */

import type { Network } from './egress-policy.ts';
import { flavorNames } from './flavor.ts';
import type { ToolSpec } from './model.ts';
import type { PlatformTool } from './requested-call.ts';

export const sandboxToolNames = [
  'execute_command',
  'execute_code',
  'read_file',
  'write_file',
  'list_files',
] as const;
export type SandboxToolName = (typeof sandboxToolNames)[number];

export const isSandboxTool = (name: string): name is SandboxToolName =>
  sandboxToolNames.some((known) => known === name);

/** The system prompt before every conversation. */
export const systemPrompt = [
  'You are an agent that works in an isolated sandbox: a Linux machine with a workspace at /workspace.',
  'Use the tools to act. A person may be asked before a tool runs and may reject it: then find another way or ask.',
  'A call that failed with tool_outcome_unknown may have run in part: look at the state before you repeat it.',
].join('\n');

/** The line about the network of the sandbox, which a model cannot find out without trying. */
export const networkLine = (network: Network | undefined): string =>
  network === undefined
    ? 'The sandbox has no network.'
    : `The sandbox reaches these hosts alone, over HTTP and TLS: ${network.allow.join(', ')}. Programs find the proxy by themselves.`;

const text = (description: string) => ({ type: 'string', description });

/** The actions of `session`. */
const agentActions = ['spawn', 'message', 'get', 'list', 'events', 'end'] as const;

const readingActions: Readonly<Record<PlatformTool, readonly string[]>> = {
  session: ['get', 'list', 'events'],
  process: ['list', 'output'],
};

/** True for an action that changes nothing. */
export const isReadingAction = (tool: PlatformTool, action: unknown): boolean =>
  typeof action === 'string' && readingActions[tool].includes(action);

/** The tool by which an agent delegates work, as a model sees it. */
export const sessionTool: ToolSpec = {
  name: 'session',
  description: [
    'Delegates work to another agent in a session of its own. `spawn` starts one with a prompt and returns its final answer;',
    'several calls in one answer run in parallel. `message` sends another prompt to a session that you started. With wait false',
    'both return the session id at once. `get`, `list` and `events` read such sessions; `end` ends one. Agents share your workspace',
    'and your budget, unless you ask for a workspace of their own, and know nothing but the prompt. One with another template,',
    'a smaller flavor, or fewer variables or hosts works on a copy of your files: its changes stay there.',
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
      template: text('Another template; for spawn.'),
      flavor: { type: 'string', enum: [...flavorNames], description: 'A smaller flavor; for spawn.' },
      env: {
        type: 'array',
        items: { type: 'string' },
        description: 'Names of the environment variables of yours that it gets, all by default; for spawn.',
      },
      network: {
        type: 'array',
        items: { type: 'string' },
        description: 'Hosts of yours that it may reach, all by default, or none; for spawn.',
      },
      max_cost_usd: {
        type: 'number',
        description: 'Part of your budget for it and all it starts, in US dollars; for spawn.',
      },
      max_total_tokens: {
        type: 'integer',
        minimum: 1,
        description: 'Tokens, of input and output, for it and all it starts; for spawn.',
      },
      max_tool_calls: {
        type: 'integer',
        minimum: 1,
        description: 'Calls of tools for it and all it starts; for spawn.',
      },
      max_seconds: {
        type: 'integer',
        minimum: 1,
        description: 'Time after which it and all it starts call no model any more; for spawn.',
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
