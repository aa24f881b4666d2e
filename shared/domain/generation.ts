/**
 * The generations of a workspace's sandboxes: each is one more than the previous one, even if a workspace was deleted and
 * another was created under its id.
 */
import type { Workspace } from './sandbox.ts';

export const nextGeneration = ({ sandbox, firstGeneration = 1 }: Workspace): number =>
  sandbox === undefined ? firstGeneration : sandbox.generation + 1;

/** More than one workspace ever has. */
const generationsMax = 1_000_000;

/**
 * The first generation of a workspace made at that time, in epoch milliseconds, under an id that another one may have had. It is above all
 * of one that was made in an earlier second: a late word of a sandbox of that one finds none of this one.
 */
export const firstGenerationAt = (at: number): number => Math.floor(at / 1000) * generationsMax + 1;

/** True for the first sandbox of a workspace: it took the place of none. */
export const isFirstGeneration = (generation: number): boolean => generation % generationsMax === 1;
