/** The sandbox tools an agent is offered, as a model is told of them. Their code runs in sandbox-task. */
import type { ToolSpec } from './model.ts';

const text = (description: string) => ({ type: 'string', description });
const object = (properties: ToolSpec['inputSchema'], required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const timeout = { type: 'integer', minimum: 1, maximum: 300, description: 'Seconds, 30 by default.' };
const path = text('A path in the workspace, relative to /workspace.');

export const sandboxTools: readonly ToolSpec[] = [
  {
    name: 'execute_command',
    description:
      'Runs a bash line in the sandbox, in /workspace. There is no network. Files outlive the call.',
    inputSchema: object({ command: text('The bash line.'), timeout }, ['command']),
  },
  {
    name: 'execute_code',
    description:
      'Runs Python or Node code in the sandbox and gives what it printed. Variables, functions and imports last from call to call, per language. plt.show() and display(mime_type, data) give images.',
    inputSchema: object(
      { code: text('The program.'), language: { type: 'string', enum: ['python', 'node'] }, timeout },
      ['code', 'language'],
    ),
  },
  {
    name: 'read_file',
    description: 'Reads a text file of the workspace.',
    inputSchema: object({ path }, ['path']),
  },
  {
    name: 'write_file',
    description: 'Writes a text file of the workspace; missing folders are made.',
    inputSchema: object({ path, content: text('The whole text.') }, ['path', 'content']),
  },
  {
    name: 'list_files',
    description: 'Lists a folder of the workspace.',
    inputSchema: object({ path: text('The folder; the workspace itself when absent.') }, []),
  },
];

export const isSandboxTool = (name: string): boolean => sandboxTools.some((tool) => tool.name === name);

/** What the model is told before the conversation. */
export const systemPrompt = [
  'You are an agent that works in an isolated sandbox: a Linux machine without network, with a workspace at /workspace.',
  'Use the tools to act. A person may be asked before a tool runs and may reject it: then find another way or ask.',
  'A call that failed with tool_outcome_unknown may have run in part: look at the state before you repeat it.',
].join('\n');
