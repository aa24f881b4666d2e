/** The check of what is left in the table once all sessions have ended. It gives what each item is, in words. */
import type { Item } from './platform.ts';
import type { SoakRecord } from './record.ts';

export type Left = SoakRecord['left'][number];

/** By the start of their sort keys. */
const sorts: Readonly<Record<string, string>> = {
  'INBOX#': 'a message that no turn took',
  'INBOXPART#': 'a part of a message that no turn took',
  'WATCHER#': 'a subscriber',
  'CALL#': 'the output of a call that runs',
  'CALLERCALL#': 'a call that waits for a client',
  'SLOT#': 'a slot',
  'OPEN#': 'a run of a schedule that has no end',
  'CLAIM#': 'a claim of a warm sandbox',
  'SOCKET#': 'a socket',
};
const deliveries: Readonly<Record<string, string>> = { 'WAITING#': 'a delivery that waits' };
/** By the start of their partition keys. */
const partitions: Readonly<Record<string, string>> = {
  'CONNECTION#': 'a connection',
  'NOTICE#': 'a notice that was not sent',
  WAITING: 'a call that waits for a person',
  'CALL#': 'a running call of a client',
};

export type Moment = {
  readonly now: number;
  /** No fault came since: until then a disconnect may have been lost, and its items stand until their time is over. */
  readonly calmSince: number;
};

/** Items that should not stand in the table once all sessions have ended, with the sweeps behind it. */
export const leftoversOf = (items: readonly Item[], moment: Moment): readonly Left[] => {
  const lost = new Set(items.filter((item) => isLostConnection(item, moment)).map(({ pk }) => String(pk)));
  const isForgiven = ({ pk, sk }: Item): boolean =>
    lost.has(String(pk)) || lost.has(`CONNECTION#${String(sk).replace(/^WATCHER#|^SOCKET#/, '')}`);
  return items
    .filter((item) => !isForgiven(item) && !isExpired(item, moment))
    .flatMap((item) => kindsOf(item, moment).map((kind) => ({ kind, key: `${item['pk']} ${item['sk']}` })));
};

/** One that is due to be deleted is gone for each reader (A24). */
const isExpired = ({ ttl }: Item, { now }: Moment): boolean => ttl !== undefined && Number(ttl) * 1000 < now;

const isLostConnection = ({ pk, sk, connectedAt, ttl }: Item, { calmSince }: Moment): boolean =>
  String(pk).startsWith('CONNECTION#') &&
  sk === 'META' &&
  ttl !== undefined &&
  Number(connectedAt) < calmSince;

const kindsOf = (item: Item, { now }: Moment): readonly string[] => {
  const [pk, sk] = [String(item['pk']), String(item['sk'])];
  const kind =
    kindAt(partitions, pk) ?? (pk.startsWith('WEBHOOK#') ? kindAt(deliveries, sk) : kindAt(sorts, sk));
  return [
    ...(kind === undefined ? [] : [kind]),
    ...(isCounterHeld(item) ? ['a counter that is not zero'] : []),
    ...(isSandboxAlive(item) ? ['a sandbox that has not stopped'] : []),
    ...(isLeaseHeld(item, now) ? ['a lease'] : []),
    ...(Number(item['dueAt']) <= now - overdueMs ? ['an overdue item'] : []),
  ];
};

const kindAt = (kinds: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.entries(kinds).find(([start]) => key.startsWith(start))?.[1];

/** The longest time in which a sweep of the soak must have come. */
export const overdueMs = 15_000;

const isCounterHeld = ({ pk, sk, active, conversations }: Item): boolean =>
  String(pk).startsWith('SLOTS#') &&
  sk === 'COUNTER' &&
  Number(active ?? 0) + Number(conversations ?? 0) !== 0;

const isSandboxAlive = ({ pk, sk, sandbox }: Item): boolean =>
  String(pk).startsWith('WORKSPACE#') &&
  sk === 'META' &&
  sandbox !== undefined &&
  (sandbox as Item)['stoppedAt'] === undefined;

const isLeaseHeld = ({ leaseUntil }: Item, now: number): boolean => Number(leaseUntil ?? 0) > now;
