/**
 * Counts a call of a tool by a program of a sandbox in the slices that pay for its session, before it is made (TM9). A session without a slice
 * asks the table nothing.
 */
import { payersOf, type Session } from '../../domain/session.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';

const pauseMs = 300;
const waitMsMax = 15_000;

/** Waits while answers of models on their way have reserved what is left. Throws `resource_limit_exceeded` where none is. */
export const countToolCall = async (
  { trees, world }: Deps<'trees' | 'world'>,
  session: Session,
  signal: AbortSignal,
): Promise<void> => {
  const payers = payersOf(session);
  if (payers === undefined) return;
  const begun = world.now();
  for (;;) {
    const use = await trees.useToolCall(payers, world.now());
    if (use === 'counted') return;
    if (use === 'spent')
      throw refused('no call of a tool is left of the budget of this session (max_tool_calls)');
    if (world.now() - begun > waitMsMax)
      throw refused('other calls have reserved the calls of tools that are left of the budget: try again');
    await world.sleep(pauseMs, signal);
  }
};

const refused = (message: string): AppError => new AppError('resource_limit_exceeded', message);
