/** Functions that are killed again and again while processes run: these run on, and their output is complete. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Sallyport } from '#sdk/sallyport.ts';
import type { Sandbox } from '#sdk/sandbox.ts';
import { type EmbeddedCloud, eventually, openEmbeddedCloud } from './embedded-cloud.ts';

const kills = 4;

let cloud: EmbeddedCloud;
let sandbox: Sandbox;
beforeAll(async () => {
  cloud = await openEmbeddedCloud({ variables: { MSB_DEFAULT_FLAVOR: 'micro' } });
  sandbox = await new Sallyport(cloud).sandboxes.create();
});
afterAll(() => cloud.stop());

/** Of each try its own: one that is there ends the program at once. */
const newFile = (): string => `end-${crypto.randomUUID()}`;

/** Counts aloud until it is told to stop. */
const counting = (file: string): string =>
  `i=0; until [ -e ${file} ]; do i=$((i + 1)); echo "line $i"; sleep 0.02; done; echo end; exit 7`;

const expectWhole = (text: string): void => {
  const lines = text.trimEnd().split('\n');
  expect(lines.at(-1)).toBe('end');
  expect(lines.slice(0, -1)).toEqual(lines.slice(0, -1).map((_, place) => `line ${place + 1}`));
};

/** Each time more came through the functions that were started since. */
const killOften = async (shown: () => string, reading: Promise<unknown>): Promise<void> => {
  const early = reading.then(() => Promise.reject(new Error('it ended early')));
  early.catch(() => undefined);
  for (let kill = 0; kill < kills; kill += 1) {
    const before = shown().length;
    const more = eventually(
      async () => shown().length,
      (length) => length > before,
      100_000,
    );
    await Promise.race([more, early]);
    await cloud.killFunctions();
  }
};

test('a process that is followed runs on, and no line of it is missing or repeated', async () => {
  const file = newFile();
  const process = await sandbox.processes.start(counting(file));
  let text = '';
  const reading = (async () => {
    for await (const event of process.output()) {
      expect(event.type).not.toBe('gap');
      text += event.text;
      if (event.type === 'exit') return event.exitCode;
    }
    return undefined;
  })();
  await killOften(() => text, reading);
  expect(await process.info()).toMatchObject({ state: 'running' });
  await sandbox.files.write(file, '');
  expect(await reading).toBe(7);
  expectWhole(text);
  expect(await process.info()).toMatchObject({ state: 'exited', exitCode: 7 });
});

test('a process that nobody follows meanwhile runs on, and its output is there afterwards', async () => {
  const file = newFile();
  const process = await sandbox.processes.start(counting(file));
  await cloud.killFunctions();
  await sandbox.files.write(file, '');
  let text = '';
  for await (const event of process.output()) text += event.text;
  expectWhole(text);
});

test('a command whose live output is read goes on, and its result is whole', async () => {
  const file = newFile();
  let shown = '';
  const running = sandbox.exec(counting(file), {
    onStdout: (text) => {
      shown += text;
    },
  });
  await killOften(() => shown, running);
  await sandbox.files.write(file, '');
  const { exitCode, stdout } = await running;
  expect([exitCode, stdout]).toEqual([7, shown]);
  expectWhole(stdout);
});
