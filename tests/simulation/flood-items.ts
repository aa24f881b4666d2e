/** Items of a flood: sessions and sandboxes that become due, each needing another step of the janitor. */
import { inboxItems } from '#shared/adapters/aws/dynamo/inbox-items.ts';
import { sessionItem } from '#shared/adapters/aws/dynamo/session-items.ts';
import type { Item } from '#shared/adapters/aws/dynamo/table.ts';
import { workspaceItem } from '#shared/adapters/aws/dynamo/workspace-items.ts';
import type { Lifetimes } from '#shared/domain/idle-time.ts';
import type { SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import type { SandboxRecord } from '#shared/domain/sandbox.ts';
import type { Session } from '#shared/domain/session.ts';
import { message, newSession, workspaceOf } from '../conformance/session-fixture.ts';

export const lifetimes: Lifetimes = {
  idleMs: 900_000,
  executionIdleMs: 1_800_000,
  historyMs: 86_400_000,
  pausedMs: 604_800_000,
  waitStopMs: 900_000,
};

type Due = { readonly id: string; readonly workspace: string; readonly dueAt: number };
type Step = (due: Due) => readonly Item[];

const sessionOf = (
  { id, workspace, dueAt }: Due,
  change: Pick<Session, 'status' | 'lastActiveAt'> & Partial<Session>,
): Session =>
  newSession({
    ...{ id: id as SessionId, workspace: workspace as WorkspaceId, dueAt },
    ...{ createdAt: change.lastActiveAt, workSeq: 1, lease: { holder: '', fence: 1, until: 0 } },
    ...change,
  });

const itemsOf = (session: Session, sandbox?: SandboxRecord): readonly Item[] => [
  sessionItem(session),
  workspaceItem({ ...workspaceOf(session), ...(sandbox === undefined ? {} : { sandbox }) }),
];

/** A sandbox that is saved and stopped. */
const rests: Step = (due) => {
  const lastActiveAt = due.dueAt - lifetimes.idleMs;
  return itemsOf(sessionOf(due, { status: 'idle', lastActiveAt }), {
    ...{ generation: 1, state: 'ready', flavor: 'micro', template: 'python', source: 'cold' },
    ...{ requestedAt: lastActiveAt, readyAt: lastActiveAt },
    ...{ taskArn: `task ${due.workspace}`, address: 'http://10.42.0.9:8080' },
  });
};

/** A message whose wake-up was lost. */
const wakes: Step = (due) => [
  ...itemsOf(sessionOf(due, { status: 'running', lastActiveAt: due.dueAt })),
  ...inboxItems(due.id as SessionId, message('m', due.dueAt)),
];

const pauses: Step = (due) =>
  itemsOf(
    sessionOf(due, {
      ...{ kind: 'execution', status: 'ready', lastActiveAt: due.dueAt - lifetimes.executionIdleMs },
    }),
  );

const ends: Step = (due) =>
  itemsOf(sessionOf(due, { status: 'idle', lastActiveAt: due.dueAt - lifetimes.historyMs }));

const forgets: Step = (due) =>
  itemsOf(sessionOf(due, { status: 'completed', lastActiveAt: due.dueAt - lifetimes.historyMs }));

const steps = [rests, wakes, pauses, ends, forgets];

/** So many due items, spread evenly over a time. */
export function* floodItems(
  count: number,
  { from, spreadMs, uuid }: { readonly from: number; readonly spreadMs: number; readonly uuid: () => string },
): Generator<Item> {
  for (let index = 0; index < count; index += 1) {
    const dueAt = from + Math.floor((index * spreadMs) / count);
    const step = steps[index % steps.length] ?? rests;
    yield* step({ id: uuid(), workspace: uuid(), dueAt });
  }
}
