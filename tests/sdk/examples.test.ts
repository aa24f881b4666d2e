/** The examples of the client library's page, run with the package as it is installed: they print what the page says. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Server, startServer } from '../e2e/server.ts';
import { buildPackage, type InstalledPackage } from './installed-package.ts';
import { readExamples, readTableLines } from './page-examples.ts';

const examples = await readExamples('sdk.md');
const lines = await readTableLines('sdk.md');

let server: Server;
let installed: InstalledPackage;
beforeAll(async () => {
  [server, installed] = await Promise.all([
    startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } }),
    buildPackage(),
  ]);
});
afterAll(() => Promise.all([server.stop(), installed[Symbol.asyncDispose]()]));

const run = async (program: string): Promise<string> => {
  const env = { SALLYPORT_URL: server.url, SALLYPORT_TOKEN: server.token };
  const options = { cwd: installed.folder, env };
  const args = ['--input-type=module-typescript', '--eval', program];
  return (await promisify(execFile)(process.execPath, args, options)).stdout;
};

test('the page has its examples', () => {
  expect([examples.length, lines.length]).toEqual([10, 36]);
});

test.each(examples)('example %#', async ({ program, printed }) => {
  expect(await run(program)).toBe(printed);
});

test('each line of the table runs', async () => {
  const program = [
    `import { Sallyport } from '@sallyport/sdk';`,
    `const sallyport = new Sallyport();`,
    `const sandbox = await sallyport.sandboxes.create({ template: 'python' });`,
    ...lines.flatMap((line, index) => [line, `console.log(${index});`]),
    `for (const one of await sallyport.sandboxes.list()) await one.stop();`,
  ].join('\n');
  expect((await run(program)).trim().split('\n')).toEqual(lines.map((_, index) => String(index)));
});
