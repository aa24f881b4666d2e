/**
 * The folders of a tower form no cycle, as its files form none: dependency-cruiser's rules of folders.
 *
 * A configuration of its own, since such a rule counts the imports of every file that it sees, and a test may reach
 * across folders. Files that lie directly in a tower are its floor, or, where its programs begin, its roof.
 */
import { forbid, options, test } from './.dependency-cruiser.mjs';

const withFloor = 'infra|operations|sdk|shared/application';
const withRoof = 'cli|local|sandbox-task|web';
const towers = `(${withFloor}|${withRoof})`;

export default {
  forbidden: [
    {
      ...forbid('no-folder-cycle', 'Two folders that need each other are one folder, or hide a third.', {
        from: { path: `^${towers}/` },
        to: { path: `^${towers}(/|$)`, circular: true },
      }),
      scope: 'folder',
    },
    forbid('the-floor-imports-no-folder', 'A file beside the folders is read by all of them.', {
      from: { path: `^(${withFloor})/[^/]+$` },
      to: { path: '^$1/[^/]+/' },
    }),
    forbid('no-folder-imports-the-roof', 'A file beside the folders puts them together.', {
      from: { path: `^(${withRoof})/[^/]+/` },
      to: { path: '^$1/[^/]+$' },
    }),
  ],
  options: {
    ...options,
    exclude: { path: [options.exclude.path, test, '^cli/fixtures/', '-fixture[.]ts$'] },
  },
};
