/** Many programs at once, in many sandboxes, under the limits of a fresh installation: each answer is whole and its own. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Sallyport } from '#sdk/sallyport.ts';
import { type Server, startServer } from './server.ts';

const sandboxCount = 10;
const programsEach = 10;

let server: Server;
beforeEach(async () => {
  const limits = { RATE_LIMIT_PER_SECOND: '10', RATE_LIMIT_BURST: '20' };
  server = await startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro', ...limits } });
});
afterEach(() => server.stop());

test('a hundred simultaneous programs in ten sandboxes are all answered rightly', async () => {
  const { sandboxes } = new Sallyport(server);
  const made = await Promise.all(Array.from({ length: sandboxCount }, () => sandboxes.create()));
  const asked = made.flatMap((sandbox, place) =>
    Array.from({ length: programsEach }, (_, number) => ({ sandbox, name: `${place}-${number}` })),
  );
  const answers = await Promise.all(
    asked.map(async ({ sandbox, name }) => {
      const line = `echo ${name} | tee ${name}; echo error of ${name} >&2; exit ${name.at(-1)}`;
      const { exitCode, stdout, stderr } = await sandbox.exec(line);
      return { exitCode, stdout, stderr };
    }),
  );
  expect(answers).toEqual(
    asked.map(({ name }) => ({
      exitCode: Number(name.at(-1)),
      stdout: `${name}\n`,
      stderr: `error of ${name}\n`,
    })),
  );
  const left = await Promise.all(made.map(async ({ files }) => (await files.list()).map(({ name }) => name)));
  expect(left.flat().toSorted()).toEqual(asked.map(({ name }) => name).toSorted());
});
