/** Actions of a terminal, apart from their answers, which are loaded for them. */
import type { SocketAction } from '#shared/contracts/socket-actions.ts';

export type TerminalAction = Extract<SocketAction, { action: 'process:input' | 'process:resize' }>;

export const isTerminalAction = (action: SocketAction): action is TerminalAction =>
  action.action === 'process:input' || action.action === 'process:resize';
