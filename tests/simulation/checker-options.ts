/** Options of the checkers: the parts of the world that they look at. */

import type { TokenUsage } from '#shared/domain/model.ts';
import type { Bucket } from './bucket.ts';
import type { Ecs } from './ecs.ts';
import type { Ledger } from './machine.ts';
import type { MemoryTable } from './memory-table.ts';
import type { TreeBounds } from './settings.ts';
import type { Simulation } from './world.ts';

export type CheckerOptions = {
  readonly sim: Simulation;
  readonly table: MemoryTable;
  readonly ledger: Ledger;
  readonly bucket: Bucket;
  readonly ecs: () => Ecs;
  readonly slotsMax: { readonly execution: number; readonly agent: number };
  readonly stepsMax: number;
  readonly tree: TreeBounds;
  /** Dollars. */
  readonly costOf: (usage: TokenUsage) => number;
  /** Idle limit of agent sessions that have none of their own. */
  readonly idleMs: number;
  /** More is due than a sweep takes. */
  readonly isCrowded: boolean;
};
