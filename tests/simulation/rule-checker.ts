/** Decisions of rules over effects: such a call was just tried, the rule is the one that it was given, and the record says so (AP9). */
import type { LogEvent } from '#shared/domain/event-log.ts';
import type { Decider } from '#shared/domain/principal.ts';
import type { TurnState } from '#shared/domain/turn/turn.ts';
import type { CheckerOptions } from './checker-options.ts';
import type { Change } from './memory-table.ts';
import { effectRules } from './settings.ts';
import { callsOf, sessionOf } from './stored.ts';

type Ruled = {
  readonly old: TurnState;
  readonly events: readonly LogEvent[];
  /** All that was written with them. */
  readonly changes: readonly Change[];
};

export const checkRules = (options: CheckerOptions, id: string, { old, events, changes }: Ruled): void => {
  for (const event of events) {
    if (event.type !== 'tool:decided' || !isByRule(event.data.by)) continue;
    const { callId, approved } = event.data;
    options.sim.coverage.hit(approved ? 'rule/approves' : 'rule/refuses');
    if (sessionOf(options.table, id)?.effects === undefined)
      options.sim.violate('AP9: a rule is given before it decides', `${id}: ${callId}`);
    if (!changes.some((change) => isRowOf(change, callId)))
      options.sim.violate('AP9: the record of a decision is in its write', `${id}: ${callId}`);
    const call = callsOf(old).find((one) => one.callId === callId);
    const fault = faultOf(call, approved);
    if (fault !== undefined) options.sim.violate(fault, `${id}: ${callId}`);
  }
};

/** The promise that the decision breaks. */
const faultOf = (
  call: ReturnType<typeof callsOf>[number] | undefined,
  approved: boolean,
): string | undefined => {
  if (call?.status !== 'pending' || call.trial?.state !== 'due' || call.trial.session === undefined)
    return 'AP9: a rule decides about what was tried';
  if (approved && call.trial.isAgain === true) return 'AP9: a rule approves a call once';
  const rule = effectRules.find(({ tools }) => tools.some((tool) => tool === call.name));
  return rule?.verdict === (approved ? 'approve' : 'refuse') ? undefined : 'AP9: the rule that fits decides';
};

const isByRule = (by: Decider): boolean => by.kind === 'policy' && by.id.startsWith('effect rule ');

const isRowOf = ({ pk, after }: Change, callId: string): boolean =>
  pk.startsWith('AUDIT#') && JSON.stringify(after?.['detail'] ?? '').includes(callId);
