/** The last output of a program: whole when it ends, however busy the runner is and however full its pipe was. */
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { closeWithin, drain } from './last-output.ts';
import { createFlow } from './process/flow.ts';
import { followOutput } from './process/process-pipes.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-output-'));
afterAll(() => rmSync(folder, { recursive: true }));

const stdio = ['ignore', 'pipe', 'pipe'] as const;
const start = (command: string): ChildProcess =>
  spawn('sh', ['-c', command], { cwd: folder, stdio: [...stdio] });

/** Holds the event loop up. */
const block = (isOver: () => boolean): void => {
  while (!isOver());
};
const blockFor = (milliseconds: number): void => {
  const until = performance.now() + milliseconds;
  block(() => performance.now() >= until);
};
const isDead = ({ pid }: ChildProcess) => / Z \d/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));

const textOf = (child: ChildProcess): (() => string) => {
  let text = '';
  child.stdout?.on('data', (bytes: Buffer) => {
    text += bytes.toString();
  });
  return () => text;
};

let count = 0;
/**
 * A program whose end is reported before its pipe was read: the loop is told of the end of another one, and while it reads
 * that one's output this one writes and ends.
 */
const startUnread = () => {
  count += 1;
  const go = `go-${count}`;
  const child = start(`until [ -e ${go} ]; do sleep 0.01; done; echo all of it`);
  const other = start('echo done');
  other.stdout?.once('data', () => {
    writeFileSync(join(folder, go), '');
    block(() => isDead(child));
  });
  block(() => isDead(other));
  return child;
};

/** The runner's pipe to the server. */
const openPipe = (writableNeedDrain: boolean) => Object.assign(new EventEmitter(), { writableNeedDrain });

const follow = (child: ChildProcess, pipe: ReturnType<typeof openPipe>) => {
  const flow = createFlow(pipe);
  let text = '';
  const show = (_: string, bytes: Buffer): void => {
    text += bytes.toString();
  };
  const output = followOutput(child, { flow, hasTerminal: false, show });
  return { flow, output, text: () => text };
};

test('the output of a call is read before its end counts, when timers come first', async () => {
  const child = startUnread();
  const text = textOf(child);
  await once(child, 'exit');
  expect(text()).toBe('');
  const drained = drain(child);
  blockFor(100);
  await drained;
  expect(text()).toBe('all of it\n');
});

test('the output of a process is read before its end counts, when timers come first', async () => {
  const child = startUnread();
  const { output, text } = follow(child, openPipe(false));
  await once(child, 'exit');
  expect(text()).toBe('');
  const rest = output.rest();
  blockFor(100);
  await rest;
  expect(text()).toBe('all of it\n');
});

test('a process is not over while the server takes nothing', async () => {
  const pipe = openPipe(true);
  const child = start('echo one; echo two >&2');
  const { flow, output, text } = follow(child, pipe);
  await once(child, 'exit');
  const rest = output.rest();
  expect(flow.pauses()).toBe(1);
  blockFor(100);
  pipe.writableNeedDrain = false;
  pipe.emit('drain');
  await rest;
  expect(text().split('\n').toSorted()).toEqual(['', 'one', 'two']);
});

test('a process in the background that holds the pipe in silence is not waited for', async () => {
  const child = start('echo first; sleep 600 & echo $!');
  const { output, text } = follow(child, openPipe(false));
  await once(child, 'exit');
  await output.rest();
  const [first, pid] = text().split('\n');
  expect(first).toBe('first');
  process.kill(Number(pid));
});

test('a pipe that stays open is waited for again and again without a trace', async () => {
  const source = new PassThrough();
  for (let wait = 0; wait < 20; wait += 1) expect(await closeWithin([source], 1)).toBe(false);
  expect([source.listenerCount('close'), source.listenerCount('error')]).toEqual([0, 0]);
  setImmediate(() => source.destroy());
  expect(await closeWithin([source], 60_000)).toBe(true);
});
