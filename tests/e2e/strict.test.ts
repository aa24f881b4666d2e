/** The same turn with every function environment a thread of its own, replaced again and again, as Lambda would. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startCloud } from '../../local/cloud.ts';
import { start as startEcs } from '../../local/ecs/start.ts';
import { connect } from './socket-client.ts';

test('a turn needs no state that one environment keeps for another', async () => {
  const home = await mkdtemp(join(tmpdir(), 'sallyport-strict-'));
  const token = `sp_${'ab'.repeat(32)}`;
  const cloud = await startCloud({
    home,
    port: 0,
    token,
    sandboxSecret: 'a secret of at least thirty-two characters',
    variables: {},
    mode: { kind: 'strict', killEvery: 2, lateEvents: { every: 2, lateMs: 200 } },
    strict: true,
    startSandboxHost: startEcs,
  });
  const client = await connect({ url: cloud.url, token });
  for (const [turn, command] of ['echo one', 'echo two'].entries()) {
    client.send('message', { text: `$ ${command}`, messageId: `m${turn}` });
    const asked = await client.untilType('tool:approval_required', turn);
    client.send('tool:approval', { callId: asked.data.callId, approved: true });
    const completion = await client.untilType('completion', turn);
    expect(completion.data.text).toContain(command.slice('echo '.length));
  }
  await client.close();
  await cloud.stop();
  await rm(home, { recursive: true, force: true });
});
