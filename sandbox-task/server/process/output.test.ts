/** The output of processes: offsets, several readers, gaps, and output that is faster than its readers. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox, waitFor } from '../sandbox-fixture.ts';
import { type OutputEvent, output, readEvents, show, start, textOf } from './process-fixture.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

const endOf = ({ data }: OutputEvent): number => Number(data['offset']) + Number(data['bytes']);

test('readers that come back with an offset miss nothing and repeat nothing', async () => {
  const id = await start(sandbox, 'while read line; do echo "$line é😀"; done');
  const say = (text: string) => sandbox.ask('POST', `/processes/${id}/stdin`, { body: text });
  await say('one\n');
  const first = await output(sandbox, id, { isEnough: ({ event }) => event === 'output' });
  expect(first[0]).toEqual({ event: 'start', data: { processId: id } });
  const at = endOf(first.at(-1) as OutputEvent);
  expect(at).toBe(Buffer.byteLength('one é😀\n'));
  const following = [1, 2].map(() => output(sandbox, id, { query: `?offset=${at}` }));
  await waitFor(async () => (await show(sandbox, id))['attached'] === 2);
  await say('two\n');
  await sandbox.ask('POST', `/processes/${id}/stdin?eof=1`);
  for (const events of await Promise.all(following)) expect(textOf(events)).toBe('two é😀\n');
  expect(textOf(await output(sandbox, id))).toBe('one é😀\ntwo é😀\n');
  expect(await show(sandbox, id)).toMatchObject({ attached: 0 });
});

test('without following, the stream ends with what there is', async () => {
  const id = await start(sandbox, 'echo here; cat');
  await output(sandbox, id, { isEnough: ({ event }) => event === 'output' });
  const events = await output(sandbox, id, { query: '?follow=0' });
  expect(events.map(({ event }) => event)).toEqual(['start', 'output']);
  await sandbox.ask('DELETE', `/processes/${id}`);
});

test('a slice ends by itself and says where the next one begins', async () => {
  const id = await start(sandbox, 'printf é; cat');
  await output(sandbox, id, { isEnough: ({ event }) => event === 'output' });
  const slice = async (query: string) =>
    (await sandbox.ask('GET', `/processes/${id}/output${query}`)).body.toString();
  const first = await slice('?slice=100');
  expect(first).toContain('event: start');
  expect(first).toMatch(/:next 2\n\n$/);
  expect(await slice('?slice=100&offset=2&start=0')).toBe(':next 2\n\n');
  expect((await sandbox.ask('GET', `/processes/${id}/output?slice=x`)).status).toBe(400);
  await sandbox.ask('DELETE', `/processes/${id}`);
});

/** The end of an answer to a slow reader, who stops at this much: an answer may have no end. */
const endOfAnswer = async (path: string, bytesMax = 16 * 1_048_576): Promise<string> => {
  const answer = await sandbox.open('GET', path);
  let bytes = 0;
  let end = '';
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > bytesMax) return 'no end';
    end = `${end}${chunk}`.slice(-200);
    await delay(5);
  }
  return end;
};

test('a slice and a read without following end also while the process prints faster than it is read', async () => {
  const id = await start(sandbox, 'yes');
  await output(sandbox, id, { isEnough: ({ event }) => event === 'output' });
  const slice = await endOfAnswer(`/processes/${id}/output?slice=100`);
  const [, next] = /\n:next (\d+)\n\n$/.exec(slice) ?? [];
  expect(Number(next), slice).toBeGreaterThan(0);
  expect(await endOfAnswer(`/processes/${id}/output?slice=0&offset=${next}`)).toMatch(/:next \d+\n\n$/);
  expect(await endOfAnswer(`/processes/${id}/output?follow=0`)).not.toBe('no end');
  expect((await sandbox.ask('DELETE', `/processes/${id}`)).status).toBe(204);
});

test('streams keep their order, and no character is divided by a piece', async () => {
  const line = 'import os\nfor i in range(200):\n os.write(1, b"o" * 7)\n os.write(2, "é".encode() * 5)';
  const id = await start(sandbox, 'python3', { args: ['-c', line] });
  const events = await output(sandbox, id);
  expect([textOf(events, 'stdout').length, textOf(events, 'stderr')]).toEqual([1400, 'é'.repeat(1000)]);
  const offsets = events.filter(({ event }) => event === 'output');
  let at = 0;
  for (const event of offsets) {
    expect(event.data['offset']).toBe(at);
    at = endOf(event);
  }
  expect(at).toBe(3400);
});

test('a character that comes in halves is shown whole; other bytes are shown as what they are not', async () => {
  const id = await start(sandbox, "printf '\\303'; read; printf '\\251\\377.'; read", {});
  const events = output(sandbox, id);
  await sandbox.ask('POST', `/processes/${id}/stdin?eof=1`, { body: '\n\n' });
  expect(textOf(await events)).toBe('é\uFFFD.');
});

test('what is no longer kept is a gap, for one who asks late and for one who is slow', async () => {
  const bytes = 3 * 1_048_576;
  const id = await start(sandbox, `head -c ${bytes} /dev/zero | tr '\\0' x; echo end`);
  await waitFor(async () => (await show(sandbox, id))['state'] === 'exited');
  const events = await output(sandbox, id);
  const total = bytes + 4;
  const from = total - 1_048_576;
  expect(events[1]).toEqual({ event: 'gap', data: { from: 0, to: from } });
  expect(textOf(events).length).toBe(1_048_576);
  expect(textOf(events).endsWith('xend\n')).toBe(true);
  const rest = await output(sandbox, id, { query: `?offset=${total - 4}` });
  expect(textOf(rest)).toBe('end\n');
});

test('W14: output that nobody reads, and more than a reader takes, costs the server no memory', async () => {
  const [server = 0] = await sandbox.pids();
  const kilobytes = async (field: string) =>
    Number(
      new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(await readFile(`/proc/${server}/status`, 'latin1'))?.[1],
    );
  const before = await kilobytes('VmRSS');
  const bytes = 96 * 1_048_576;
  const id = await start(sandbox, `read; head -c ${bytes} /dev/zero | tr '\\0' y`);
  const answer = await sandbox.open('GET', `/processes/${id}/output`);
  // It reads nothing while all of this passes.
  answer.pause();
  await sandbox.ask('POST', `/processes/${id}/stdin`, { body: '\n' });
  await waitFor(async () => (await show(sandbox, id))['state'] === 'exited');
  expect((await kilobytes('VmHWM')) - before).toBeLessThan(bytes / 1024 / 2);
  const events = await readEvents(answer);
  expect(events.map(({ event }) => event)).toContain('gap');
  expect([endOf(events.at(-2) as OutputEvent), events.at(-1)?.event]).toEqual([bytes, 'exit']);
});

test('200 processes are remembered, and the output of the oldest is given up first', async () => {
  const first = await start(sandbox, "head -c 1048576 /dev/zero | tr '\\0' z");
  await waitFor(async () => (await show(sandbox, first))['state'] === 'exited');
  expect(textOf(await output(sandbox, first)).length).toBe(1_048_576);
  for (let count = 0; count < 17; count += 1) {
    const id = await start(sandbox, "head -c 1048576 /dev/zero | tr '\\0' z");
    await waitFor(async () => (await show(sandbox, id))['state'] === 'exited');
  }
  const events = await output(sandbox, first);
  expect(events.map(({ event }) => event)).toEqual(['start', 'gap', 'exit']);
});
