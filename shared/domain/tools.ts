/** The names of the tools that a sandbox runs, and the system prompt. Contracts: contracts/tools/sandbox-tools.ts. */
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
  'You are an agent that works in an isolated sandbox: a Linux machine without network, with a workspace at /workspace.',
  'Use the tools to act. A person may be asked before a tool runs and may reject it: then find another way or ask.',
  'A call that failed with tool_outcome_unknown may have run in part: look at the state before you repeat it.',
].join('\n');
