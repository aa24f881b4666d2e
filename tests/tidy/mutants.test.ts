/** The deliberate bugs of the simulation: a change of the code that they are made in brings them along. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryFolder } from './repository.ts';

const folder = join(repositoryFolder, 'tests/simulation/mutants');

test('each deliberate bug applies to the code as it is', () => {
  const misfits = readdirSync(folder).filter(
    (name) =>
      spawnSync('git', ['apply', '--check', join(folder, name)], { cwd: repositoryFolder }).status !== 0,
  );
  expect(misfits).toEqual([]);
});
