/** Contents of the table, as the checkers and the users of the simulation read them: without the stores they look at. */
import { turnFrom } from '#shared/adapters/aws/dynamo/turn-items.ts';
import type { Checkpoint } from '#shared/domain/checkpoint.ts';
import type { LogEvent } from '#shared/domain/event-log.ts';
import type { SandboxRecord } from '#shared/domain/sandbox.ts';
import type { Session } from '#shared/domain/session.ts';
import type { Snapshot } from '#shared/domain/snapshot.ts';
import type { Tree } from '#shared/domain/tree-budget.ts';
import type { ToolCall } from '#shared/domain/turn/tool-call.ts';
import type { TurnState } from '#shared/domain/turn/turn.ts';
import type { Change, Item, MemoryTable } from './memory-table.ts';

export type StoredWorkspace = {
  readonly sandbox?: SandboxRecord;
  readonly checkpoint?: Checkpoint;
  readonly users?: ReadonlySet<string>;
  readonly deletedAt?: number;
  readonly isNamed?: true;
};

type Stored = Pick<MemoryTable, 'get' | 'partition' | 'startingWith' | 'partitions'>;

/** States that are stored in parts, by the first: it alone does not say them. */
const inParts = new WeakMap<object, TurnState>();
/** States that were read before: an item never changes. */
const whole = new WeakMap<object, TurnState>();

/** A turn in parts was written: they are all there now. */
export const rememberParts = (table: Stored, changes: readonly Change[]): void => {
  for (const { pk, sk, after } of changes) {
    if (sk !== 'TURN' || after === undefined || 'state' in after) continue;
    const turn = turnFrom(table.partition(pk));
    if (turn !== undefined) inParts.set(after, turn.state);
  }
};

export const stateOf = (item: Item | undefined): TurnState => {
  if (item === undefined) return { kind: 'idle' };
  const known = inParts.get(item) ?? whole.get(item);
  if (known !== undefined) return known;
  const state = JSON.parse(String(item['state'])) as TurnState;
  whole.set(item, state);
  return state;
};

export const isAtRest = ({ kind }: TurnState): boolean => kind === 'idle' || kind === 'done';

/** The calls of a queue, each under the key it is performed under. */
export const callsOf = (state: TurnState): readonly (ToolCall & { readonly key: string })[] =>
  state.kind === 'deciding' || state.kind === 'acting'
    ? state.calls.map((call) => ({ ...call, key: `tool:${state.turnId}:${state.step}:${call.callId}` }))
    : [];

export const eventOf = (item: Item): LogEvent => ({
  ...JSON.parse(String(item['entry'])),
  seq: Number(item['seq']),
  at: Number(item['at']),
});

export const sessionOf = (table: Stored, id: string): Session | undefined =>
  table.get(`SESSION#${id}`, 'META') as Session | undefined;

/** Written by a version of the code that is newer than the one that runs, which cannot read it. */
export const isOfNewerVersion = (item: object): boolean => 'ofNewerVersion' in item;

export const turnOf = (table: Stored, id: string): TurnState => stateOf(table.get(`SESSION#${id}`, 'TURN'));

export const workspaceOf = (table: Stored, id: string): StoredWorkspace =>
  (table.get(`WORKSPACE#${id}`, 'META') ?? {}) as StoredWorkspace;

export const treeItemOf = (table: Stored, root: string): Tree | undefined =>
  table.get(`SESSION#${root}`, 'TREE') as Tree | undefined;

/** Of the tree under a root, as far as they are not forgotten. */
export const childrenOf = (table: Stored, root: string): readonly Session[] =>
  table
    .startingWith(`SESSION#${root}`, 'CHILD#')
    .flatMap(({ child }) => sessionOf(table, String(child)) ?? []);

/** Messages that wait, by sort key. */
export const inboxOf = (table: Stored, id: string): readonly Item[] =>
  table.startingWith(`SESSION#${id}`, 'INBOX#');

/** Ids after a prefix, from the names of the partitions that hold anything. */
export const idsOf = (table: Stored, prefix: string): readonly string[] =>
  table
    .partitions()
    .filter((pk) => pk.startsWith(prefix) && table.partition(pk).length > 0)
    .map((pk) => pk.slice(prefix.length));

/** All snapshots of all projects. */
export const snapshotsIn = (table: Stored): readonly Snapshot[] =>
  idsOf(table, 'PROJECT#').flatMap((project) =>
    table.startingWith(`PROJECT#${project}`, 'SNAPSHOT#').map((item) => item as unknown as Snapshot),
  );
