/** A call that leaves its workspace as it was saved costs no save, by any way in; the next that changes a file does. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSession, showSession } from './agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';
import { linesOf } from './observed.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

const saves = (workspaceId: string): number =>
  linesOf(cloud).filter(
    (line) =>
      line['event'] === 'checkpoint_carried' &&
      line['kind'] === 'save' &&
      line['workspaceId'] === workspaceId,
  ).length;

const post = async (path: string, body: object): Promise<unknown> => {
  const response = await cloud.request(path, { method: 'POST', body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  return response.json();
};

test('commands and code that change nothing are not followed by a save', async () => {
  const { id } = await makeSession(cloud, { kind: 'execution', flavor: 'micro' });
  const exec = (command: string) => post(`/api/sessions/${id}/exec`, { command });
  // Longer than a step of the kernel's clock, so that the stat of the file tells of each later change.
  await exec('echo kept > file; sleep 0.1');
  const { workspace } = await showSession(cloud, id);
  const count = async (work: () => Promise<unknown>): Promise<number> => {
    const before = saves(workspace);
    await work();
    return saves(workspace) - before;
  };
  expect(await count(() => exec('true'))).toBe(0);
  expect(await count(() => exec('cat file'))).toBe(0);
  expect(await count(() => post(`/api/sessions/${id}/code`, { code: '1 + 1' }))).toBe(0);
  expect(await count(() => exec('echo more >> file; sleep 0.1'))).toBe(1);
  expect(await count(() => exec('true'))).toBe(0);
  expect(await count(() => exec('mkdir folder'))).toBe(1);
  // A time of a change without a change: one save finds nothing new, and the next call needs none.
  expect(await count(() => exec('chmod 600 file; chmod 644 file; sleep 0.1'))).toBe(1);
  expect(await count(() => exec('true'))).toBe(0);
  // The lines of the sandbox's log come with a save.
  const code = "import sys; print('told', file=sys.stderr)";
  expect(await count(() => post(`/api/sessions/${id}/code`, { code }))).toBe(1);
});
