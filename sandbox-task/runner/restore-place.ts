/**
 * The place of a restored entry: under the workspace, through real folders only.
 *
 * Each folder on the way is looked at, so a link that came earlier in the archive, or that user code put
 * there, is never walked through. Folders that are missing are made.
 * Guarantee W10 of docs/spec/sandbox.md.
 */
import { lstatSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isPlainPath } from '#shared/contracts/archive.ts';

export type PlaceFinder = {
  /** Throws with the reason why an entry cannot be there. */
  readonly find: (path: string) => string;
  /** Something other than a folder was made: what is known of the way is not true any more. */
  readonly forget: () => void;
};

export const createPlaceFinder = (workspace: string): PlaceFinder => {
  /** Neighbours come one after another: mostly the way is the last one. */
  let known: string | undefined;
  return {
    find(path) {
      if (!isPlainPath(path)) throw new Error('its path is not one of the workspace');
      const parent = dirname(path);
      if (parent !== known) {
        walk(workspace, parent);
        known = parent;
      }
      return join(workspace, path);
    },
    forget() {
      known = undefined;
    },
  };
};

const walk = (workspace: string, parent: string): void => {
  let place = workspace;
  for (const step of parent === '.' ? [] : parent.split('/')) {
    place = join(place, step);
    const stat = lstatSync(place, { throwIfNoEntry: false });
    if (stat === undefined) mkdirSync(place);
    else if (!stat.isDirectory()) throw new Error('its folder is not a folder');
  }
};
