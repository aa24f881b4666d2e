/**
 * The warm pool: pool entries that hold a started sandbox each until a workspace claims it.
 *
 * A pool entry is a workspace without files or users, so that it is started, recorded, swept and stopped like any
 * other. Its flavor follows from its number, so that a pool of any size serves agents and executions alike; its
 * template is the one of sessions that name none. A claimed pool entry is empty until the janitor fills it again.
 */
import type { Flavor } from './flavor.ts';
import type { WorkspaceId } from './ids.ts';
import type { Workspace } from './sandbox.ts';
import type { Template } from './template.ts';

const prefix = 'pool-';

export const poolEntryId = (index: number): WorkspaceId => `${prefix}${index}` as WorkspaceId;

export const isPoolEntry = (id: WorkspaceId): boolean => id.startsWith(prefix);

const entryIndex = (id: WorkspaceId): number => Number(id.slice(prefix.length));

/** The pool that the settings ask for: its sandboxes are those of sessions that name no flavor and no template. */
export type PoolPlan = {
  readonly size: number;
  readonly flavors: { readonly execution: Flavor; readonly agent: Flavor };
  readonly template: Template;
};

type Kind = { readonly flavor: Flavor; readonly template: Template };

/** Even pool entries hold the flavor of executions, odd ones that of agents. */
export const entryKind = (id: WorkspaceId, { flavors, template }: PoolPlan): Kind => ({
  flavor: entryIndex(id) % 2 === 0 ? flavors.execution : flavors.agent,
  template,
});

/** Why the pool does not keep it: the settings have changed since it was started. */
export const reasonToDrain = ({ id, sandbox }: Workspace, plan: PoolPlan): string | undefined => {
  if (entryIndex(id) >= plan.size) return 'the pool became smaller';
  const { flavor, template } = entryKind(id, plan);
  const isKept = sandbox === undefined || (sandbox.flavor === flavor && sandbox.template === template);
  return isKept ? undefined : `the pool holds ${flavor} sandboxes of template ${template} here`;
};

export const poolEntries = (size: number): readonly WorkspaceId[] =>
  Array.from({ length: size }, (_, index) => poolEntryId(index));

/** The pool entries a claim may try, in order: `from` spreads concurrent claims. */
export const claimableEntries = (
  entries: readonly Workspace[],
  { flavor, template }: Kind,
  from: number,
): readonly Workspace[] => {
  const ready = entries.filter(
    ({ sandbox }) => sandbox?.state === 'ready' && sandbox.flavor === flavor && sandbox.template === template,
  );
  const first = ready.length === 0 ? 0 : from % ready.length;
  return [...ready.slice(first), ...ready.slice(0, first)];
};
