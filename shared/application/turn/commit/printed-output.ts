/** Printed output of a turn's running calls as the table has it, for a caller that ends these calls without having received it. */

import type { CallId, SessionId } from '../../../domain/ids.ts';
import { runningCalls } from '../../../domain/turn/pending-work.ts';
import type { PrintedOutput } from '../../../domain/turn/printed.ts';
import type { TurnState } from '../../../domain/turn/turn.ts';
import type { Deps } from '../../deps.ts';

/** Best effort: without it the calls end as well. */
export const printedIn = async (
  { turns, telemetry }: Deps<'turns' | 'telemetry'>,
  session: SessionId,
  state: TurnState,
): Promise<PrintedOutput> => {
  const running = runningCalls(state);
  try {
    const outputs = await turns.outputsOf(
      session,
      running.map(({ key }) => key),
    );
    return Object.fromEntries(
      running.map(({ key, callId }): [CallId, string] => [callId, outputs[key] ?? '']),
    );
  } catch (error) {
    telemetry.warn('the output of running calls was not read', { error });
    return {};
  }
};
