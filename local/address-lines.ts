/** The lines with which a start ends: where the program is reached, where its data is, and what this machine cannot give it. */
import { join } from 'node:path';
import type { Cloud } from './cloud.ts';

type Kept = { readonly home: string; readonly token: string };

/** The first is the one that readers wait for. */
export const addressLines = (
  { url, limits }: Pick<Cloud, 'url' | 'limits'>,
  { home, token }: Kept,
): readonly string[] => [
  `Sallyport is ready at ${url}`,
  `Open ${url}/#token=${token}`,
  `Data is in ${home}, logs are in ${join(home, 'logs', 'functions.log')}. Stop with Ctrl-C.`,
  ...(limits === 'best effort' ? [bestEffort] : []),
];

const bestEffort =
  'Limits of sandboxes are best effort: this program may not write control groups of the kernel here. A start as root usually may.';
