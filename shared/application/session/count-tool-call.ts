/**
 * Counts a tool call of a program in a sandbox, before it is made, in the slices that pay for its session (TM9). For a session
 * without a slice the table is not asked.
 */
import { payersOf, type Session } from '../../domain/session.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';
import { sliceUsedUp } from '../sandbox/slice-used-up.ts';

const pauseMs = 300;
const waitMsMax = 15_000;
const noneLeft = 'no call of a tool is left of the budget of this session (max_tool_calls)';
const othersHold = 'other calls have reserved the calls of tools that are left of the budget: try again';

/** Waits while answers of models on their way have reserved what is left. Throws `resource_limit_exceeded` where none is. */
export const countToolCall = async (
  ports: Deps<'trees' | 'telemetry' | 'world'>,
  session: Session,
): Promise<void> => {
  const { trees, world } = ports;
  const payers = payersOf(session);
  if (payers === undefined) return;
  const begun = world.now();
  for (;;) {
    const use = await trees.useToolCall(payers, world.now());
    if (use === 'counted') return;
    if (use === 'spent')
      throw sliceUsedUp(ports, { measure: 'toolCalls', sessionId: session.id, message: noneLeft });
    if (world.now() - begun > waitMsMax) throw new AppError('resource_limit_exceeded', othersHold);
    await world.sleep(pauseMs);
  }
};
