/**
 * The status of a session as lists show it: of one at rest, the end of its last turn says more than `idle`. Its word is for
 * people; programs read the two fields. Pure.
 */
import type { StopReason } from './event-log.ts';
import type { SessionStatus } from './session.ts';

type Resting = { readonly status: SessionStatus; readonly lastStopReason?: StopReason | undefined };

const labels: Readonly<Record<StopReason, string | undefined>> = {
  end_turn: undefined,
  error: 'last turn failed',
  cancelled: 'last turn cancelled',
  max_tokens: 'output limit reached',
  budget_exceeded: 'budget exceeded',
  steps_exceeded: 'step limit reached',
  refused: 'model declined',
};

export const statusLabel = ({ status, lastStopReason }: Resting): string =>
  (status === 'idle' && lastStopReason !== undefined ? labels[lastStopReason] : undefined) ?? status;
