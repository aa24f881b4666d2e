/** Actions of a terminal, separate from the code that answers them, which is loaded only for such an action. */
import type { SocketAction } from '#shared/contracts/socket-actions.ts';

export type TerminalAction = Extract<SocketAction, { action: 'process:input' | 'process:resize' }>;

export const isTerminalAction = (action: SocketAction): action is TerminalAction =>
  action.action === 'process:input' || action.action === 'process:resize';
