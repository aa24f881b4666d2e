/** Names of runtimes: `builtin` is the platform's own loop; any other is a program of the sandbox that carries a session's turns. */

export const runtimeNames = ['builtin', 'opencode', 'acp'] as const;
export type RuntimeName = (typeof runtimeNames)[number];
/** A program of the sandbox that carries turns. */
export type AgentRuntime = Exclude<RuntimeName, 'builtin'>;
export const agentRuntimes = ['opencode', 'acp'] as const satisfies readonly AgentRuntime[];

/** Undefined: the platform's own loop. */
export const agentRuntimeOf = (name: RuntimeName | undefined): AgentRuntime | undefined =>
  name === undefined || name === 'builtin' ? undefined : name;
