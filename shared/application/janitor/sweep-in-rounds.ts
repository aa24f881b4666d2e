/**
 * The janitor's sweep: round after round of what is due, until no more is and all have ended, or its time is over (L13).
 *
 * A round does not wait for the slow ones among it, such as a sandbox that is saved before it stops: beside them the sweep
 * goes on. An item that is read again as it was is put off: it fails, or is not done yet, and would fill the rounds of the others.
 */

import { stopRetryMs, sweepMsMax } from '../../domain/limits.ts';
import { type DueItem, openDueReader, type SweepDeps, type SweepSettings } from './sweep-due-records.ts';

export type SweepReport = { readonly due: number; readonly failed: number };

/** Of each kind in one round. */
const itemsMax = 400;
/** A round of fewer has read all that was due. */
const fullRoundMin = 100;
const roundMsMax = 2000;
/** While slow ones are waited for: where sweeps do not overlap, no other sweep looks. */
const slowLookMs = 3000;
/** The index follows the table within this time: a round that begins earlier reads much of the last one again. */
const indexMs = 500;
/** More would only queue for the connections of the table's client. */
const unendedMax = 120;

export const sweep = async (ports: SweepDeps, settings: SweepSettings): Promise<SweepReport> => {
  const { world, telemetry } = ports;
  const until = world.now() + sweepMsMax;
  const read = openDueReader(ports, settings);
  const swept = new Set<string>();
  const putOff = new Set<string>();
  const unended = new Set<Promise<void>>();
  let failed = 0;
  const fail =
    (what: string) =>
    (error: unknown): void => {
      failed += 1;
      telemetry.error(what, { error });
    };
  let unreadable = 0;
  const onUnreadable = (error: unknown): void => {
    unreadable += 1;
    fail('a due record cannot be read')(error);
  };
  const begin = ({ key, sweep: run }: DueItem): void => {
    swept.add(key);
    const ended = run()
      .catch(fail('a due item was not swept'))
      .finally(() => unended.delete(ended));
    unended.add(ended);
  };
  const delay = async ({ key, putOff: later }: DueItem): Promise<void> => {
    putOff.add(key);
    await later(world.now() + stopRetryMs).catch(fail('a due item was not put off'));
  };
  for (;;) {
    const items = await read(itemsMax, onUnreadable);
    const fresh = items.filter(({ key }) => !swept.has(key));
    const again = items.filter(({ key }) => swept.has(key) && !putOff.has(key));
    for (const item of fresh) {
      while (unended.size >= unendedMax) await Promise.race(unended);
      if (world.now() < until) begin(item);
    }
    await Promise.all([...again.map(delay), roundEnd(ports, unended, roundMsMax)]);
    const isLast = items.length < fullRoundMin || fresh.length + again.length === 0;
    if (world.now() >= until || !(await nextRound(ports, unended, isLast))) break;
  }
  await Promise.all(unended);
  const due = swept.size + unreadable;
  telemetry.count('SweepDue', due);
  return { due, failed };
};

/** Waits for the next round; false when all is done. */
const nextRound = async (
  ports: SweepDeps,
  unended: ReadonlySet<Promise<void>>,
  isLast: boolean,
): Promise<boolean> => {
  if (isLast) await roundEnd(ports, unended, slowLookMs);
  else await ports.world.sleep(indexMs);
  return !isLast || unended.size > 0;
};

/** All have ended, or the next round begins beside those that have not. */
const roundEnd = async (
  { world }: SweepDeps,
  unended: ReadonlySet<Promise<void>>,
  waitMs: number,
): Promise<void> => {
  const over = new AbortController();
  await Promise.race([Promise.all(unended), world.sleep(waitMs, over.signal)]);
  over.abort();
};
