/**
 * The approval mode of a session: the calls that run without a human. `ask` none, `auto` all; between them `low` (reading),
 * `medium` (reading, editing, git) and `high` (all but a call that repeats itself).
 */
export type ApprovalMode = 'ask' | 'low' | 'medium' | 'high' | 'auto';

export const approvalModes = [
  'ask',
  'low',
  'medium',
  'high',
  'auto',
] as const satisfies readonly ApprovalMode[];
