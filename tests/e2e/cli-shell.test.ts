/** `sallyport shell` on a pseudo terminal: a shell in a sandbox, left and attached again. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSession } from './agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';
import { openTerminal } from './pseudo-terminal.ts';
import { compileCache } from './server.ts';

let cloud: EmbeddedCloud;
let folder = '';
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
  folder = await mkdtemp(join(tmpdir(), 'sallyport-shell-'));
});
afterAll(async () => {
  await cloud.stop();
  await rm(folder, { recursive: true, force: true });
});

const program = join(import.meta.dirname, '..', '..', 'cli', 'sallyport.js');
const shell = (...args: readonly string[]) =>
  openTerminal([process.execPath, program, 'shell', ...args], {
    env: {
      ...compileCache,
      ...{ PATH: '/usr/bin:/bin', HOME: folder, NO_COLOR: '1' },
      ...{ SALLYPORT_URL: cloud.url, SALLYPORT_TOKEN: cloud.token },
    },
    folder,
  });

test('a shell shows what it is typed and prints, is left, attached again, and ends with its code', async () => {
  const { id } = await makeSession(cloud, { kind: 'execution' });
  const first = shell('--session', id);
  await first.until('$');
  first.type('stty size; echo $((6 * 7)) > answer; cat answer\r');
  await first.until('24 100');
  await first.until('42');
  first.type('printf %s größe😀 | wc -m; stty size\r');
  await first.until('6\n24 100');
  first.type(`sh -c 'echo be""gun; exec sleep 600'\r`);
  await first.until('begun');
  first.type('\u0003');
  await first.until('^C');
  first.type('\u001d');
  await first.until('--attach ');
  expect(await first.ended()).toBe(0);
  const [, processId = ''] = /--attach (\S+)/.exec(first.text()) ?? [];
  const second = shell('--session', id, '--attach', processId);
  await second.until('begun');
  second.type('exit 7\r');
  expect(await second.ended()).toBe(7);
});
