/** The operator's figures of one machine, from the real lines of a program that has worked. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { localRelease, noteRelease } from '../../local/figures.ts';
import { runOperator } from '../../operations/operator/operator.ts';
import { openAgent } from './agent.ts';
import { openEmbeddedCloud } from './embedded-cloud.ts';

const run = async (...args: string[]) => {
  const [output, errors] = [new PassThrough(), new PassThrough()];
  const machine = { args, variables: {}, input: new PassThrough(), output, errors };
  const open = () => {
    throw new Error('one machine needs no program');
  };
  const code = await runOperator({ ...machine, open });
  return { code, out: String(output.read() ?? ''), error: String(errors.read() ?? '') };
};

test('turns of a session are in its figures, and a newer version keeps them as those of the last release', async () => {
  const variables = { MODEL_PRICES: JSON.stringify({ 'demo/demo': { input: 1, output: 1 } }) };
  const cloud = await openEmbeddedCloud({ variables });
  onTestFinished(() => cloud.stop());
  const agent = await openAgent(cloud);
  await agent.run('$ echo one');
  await agent.run('$ echo two');
  await agent.say('hello');
  await agent.say('hello again');
  await agent.close();
  await cloud.request(`/api/sessions/${agent.id}`, { method: 'DELETE' });
  const home = await mkdtemp(join(tmpdir(), 'sallyport-operator-'));
  onTestFinished(() => rm(home, { recursive: true }));
  await mkdir(join(home, 'logs'));
  await writeFile(join(home, 'logs', 'functions.log'), cloud.printed());
  await noteRelease(home, Date.now(), '1.0.0');
  expect((await localRelease(home))?.last).toBeUndefined();
  await noteRelease(home, Date.now(), '1.1.0');
  const { code, out, error } = await run('--home', home);
  expect([code, error]).toEqual([0, '']);
  expect(out).toMatch(
    /first delta of a turn +ms +2 +[\d,]+ +[\d,]+ +[\d,]+ +p95 at most 30,000 +[\d,]+ +[\d,]+ +\w+/,
  );
  expect(out).toMatch(/round trip of a tool +ms +2 /);
  // One value of a session, however many turns it had.
  expect(out).toMatch(/dollars of an ended session +USD +1 /);
  expect(out).toMatch(/restore of a workspace +ms +0 .* no traffic\n/);
  expect(out).toContain('The last release is 1.0.0');
  await writeFile(join(home, 'logs', 'functions.log'), '');
  expect(await run('--home', home, '--strict')).toMatchObject({
    code: 0,
    out: expect.stringContaining('no traffic'),
  });
  expect((await run('--home', home, '--hours', '0')).code).toBe(1);
});
