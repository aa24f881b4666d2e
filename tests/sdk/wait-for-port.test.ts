/** Waiting for a server of a sandbox, on a real one: until it listens, or until the time is over. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Sallyport } from '#sdk/sallyport.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from '../e2e/embedded-cloud.ts';

let cloud: EmbeddedCloud;
beforeAll(async () => {
  cloud = await openEmbeddedCloud();
});
afterAll(() => cloud.stop());

test('a port is waited for until a server listens, or the time is over', async () => {
  const sandbox = await new Sallyport(cloud).sandboxes.create({ template: 'python' });
  await expect(sandbox.waitForPort(8123, { timeoutSeconds: 1 })).rejects.toMatchObject({
    name: 'SallyportError',
    code: 'execution_timeout',
    message: 'nothing listens on port 8123 after 1 s',
  });
  await sandbox.processes.start('sleep 1; exec python3 -m http.server 8123');
  await sandbox.waitForPort(8123);
  expect((await sandbox.exec('exec 3<>/dev/tcp/127.0.0.1/8123')).exitCode).toBe(0);
});
