/**
 * What happens by the clock while nobody works: the rules of the template that have a rate, each with the work that
 * its input asks for. A rule whose work is not known fails the bill.
 */
import type { FunctionName } from '#shared/config/environment.ts';
import type { Resource } from '../stacks/synthesise.ts';
import { minutesOfMonth } from './prices.ts';
import { checkedSandbox, checkedTurn, sweepOf, type Work } from './work.ts';

export type TimedWork = { readonly what: string; readonly work: Work; readonly timesAMonth: number };

const minutes: Readonly<Record<string, number>> = {
  minute: 1,
  minutes: 1,
  hour: 60,
  hours: 60,
  day: 1440,
  days: 1440,
};

/** Undefined for what is no rule, or one of a pattern. */
export const timedWorkOf = (id: string, { Type, Properties }: Resource): TimedWork | undefined => {
  if (Type !== 'AWS::Events::Rule') return undefined;
  const { ScheduleExpression, State, Targets = [] } = Properties;
  if (ScheduleExpression === undefined || State === 'DISABLED') return undefined;
  const [, count, unit = ''] = /^rate\((\d+) (\w+)\)$/.exec(ScheduleExpression) ?? [];
  const period = Number(count) * (minutes[unit] ?? Number.NaN);
  if (!(period > 0)) throw new Error(`${id}: ${ScheduleExpression} is no rate that has a price`);
  return { ...workOf(id, textOf(Targets[0]?.Input)), timesAMonth: minutesOfMonth / period };
};

const workOf = (id: string, input: string): Pick<TimedWork, 'what' | 'work'> => {
  const [, sweep] = /"sweep":"([a-z-]+)"/.exec(input) ?? [];
  if (sweep !== undefined) return { what: 'sweeps', work: sweepOf(sweeper(sweep)) };
  const [, check] = /"check":"([a-z-]+)"/.exec(input) ?? [];
  if (check === 'turn') return { what: 'synthetic turns', work: checkedTurn };
  if (check === 'sandbox') return { what: 'synthetic sandboxes', work: checkedSandbox };
  throw new Error(`${id}: nobody has said what the work of its input costs`);
};

const sweeper = (sweep: string): FunctionName =>
  sweep === 'schedules' || sweep === 'webhooks' ? sweep : 'janitor';

/** An input that names a resource is a join of texts and references. */
const textOf = (input: unknown): string => {
  if (typeof input === 'string') return input;
  const parts = (input as { readonly 'Fn::Join'?: readonly [string, readonly unknown[]] } | undefined)?.[
    'Fn::Join'
  ];
  return (parts?.[1] ?? []).map((piece) => (typeof piece === 'string' ? piece : '?')).join('');
};
