/** Answers of a real sandbox that say whether its workspace is as a checkpoint has it, or a save has something to do. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ArchiveHeader, encodeArchiveFrame } from '#shared/contracts/archive.ts';
import { asSavedHeader, savedAsHeader } from '#shared/contracts/sandbox-call.ts';
import { settleMs } from '../runner/file-index.ts';
import { collectArchive, sha256Of, startTestSandbox, type TestSandbox } from './sandbox-fixture.ts';

let sandbox: TestSandbox;
const inside = (path: string): string => join(sandbox.workspace, path);
beforeEach(async () => {
  sandbox = await startTestSandbox();
});
afterEach(() => sandbox.stop());

/** The kernel's clock has gone on since the last change. */
const settled = () => delay(2 * settleMs);

const saved = async (base = ''): Promise<string> => {
  const id = randomUUID();
  await collectArchive(await sandbox.open('GET', `/checkpoint?id=${id}&base=${base}`));
  return id;
};

/** The number that comes with the result of a command. */
const afterCall = async (savedAs: string, line = 'true'): Promise<unknown> => {
  const { body } = await sandbox.ask('POST', `/calls/${randomUUID()}`, {
    headers: { [savedAsHeader]: savedAs },
    body: JSON.stringify({ name: 'execute_command', arguments: { command: line } }),
  });
  const events = body
    .toString()
    .split('\n\n')
    .filter((event) => event.includes('"result"'));
  const [{ asSaved }] = events.map((event) => JSON.parse(event.slice('data: '.length))) as [
    { asSaved?: number },
  ];
  return asSaved;
};

const afterProcess = async (savedAs: string, command = 'true'): Promise<string | undefined> => {
  const { headers } = await sandbox.ask('POST', '/processes', {
    headers: { [savedAsHeader]: savedAs },
    body: JSON.stringify({ id: randomUUID(), command, waitMs: 30_000 }),
  });
  return headers[asSavedHeader] as string | undefined;
};

const fill = async (): Promise<void> => {
  await mkdir(inside('folder/empty'), { recursive: true });
  await writeFile(inside('folder/file'), 'content');
  await symlink('folder/file', inside('link'));
  sandbox.own();
  await settled();
};

test('a command that changes nothing says so, by either route, with the number of the newest line', async () => {
  await fill();
  const id = await saved();
  expect([await afterCall(id), await afterProcess(id)]).toEqual([0, '0']);
  expect([await afterCall(id, 'ls -R >&2'), await afterProcess(id)]).not.toContain(undefined);
  expect(Number(await afterProcess(id))).toBeGreaterThan(0);
});

test.each([
  ['a new file', () => writeFile(inside('new'), '')],
  ['a new folder', () => mkdir(inside('new'))],
  ['a new link', () => symlink('nowhere', inside('new'))],
  ['a file less', () => rm(inside('folder/file'))],
  ['a folder less', () => rm(inside('folder/empty'), { recursive: true })],
  [
    'another content of the same length and time',
    async () => {
      const at = new Date(1_700_000_000_000);
      await writeFile(inside('folder/file'), 'CONTENT');
      await utimes(inside('folder/file'), at, at);
    },
  ],
  ['another mode of a file', () => chmod(inside('folder/file'), 0o700)],
  ['another mode of a folder', () => chmod(inside('folder'), 0o700)],
  [
    'another target of a link',
    async () => {
      await rm(inside('link'));
      await symlink('folder/none', inside('link'));
    },
  ],
  ['another name', () => rename(inside('folder/file'), inside('folder/renamed'))],
])('%s has to be saved, and then no more', async (_what, change) => {
  const at = new Date(1_700_000_000_000);
  await fill();
  await utimes(inside('folder/file'), at, at);
  await settled();
  const before = await saved();
  await change();
  sandbox.own();
  expect(await afterCall(before)).toBeUndefined();
  await settled();
  const now = await saved(before);
  expect([await afterCall(before), await afterCall(now)]).toEqual([undefined, 0]);
});

test('only the newest state that left counts; one without any change leaves that of its base', async () => {
  await fill();
  const first = await saved();
  await saved(first);
  expect(await afterCall(first)).toBe(0);
  const another = await saved();
  expect([await afterCall(first), await afterCall(another)]).toEqual([undefined, 0]);
});

test('one that had nothing new for its receiver is settled as the older one', async () => {
  await fill();
  const first = await saved();
  await chmod(inside('folder/file'), 0o600);
  await chmod(inside('folder/file'), 0o644);
  await settled();
  // The same mode again, under another time: the runner cannot tell that from a change.
  expect(await afterCall(first)).toBeUndefined();
  const again = await saved(first);
  expect([await afterCall(first), await afterCall(again)]).toEqual([undefined, 0]);
  const settle = (id: string, as: string) => sandbox.ask('POST', `/settle?id=${id}&as=${as}`);
  expect((await settle(again, first)).status).toBe(204);
  expect([await afterCall(first), await afterCall(again)]).toEqual([0, undefined]);
  expect((await settle(randomUUID(), first)).status).toBe(409);
  expect((await settle(again, 'x')).status).toBe(400);
});

test('an unknown checkpoint, none, and one that is no id are not compared', async () => {
  await fill();
  const id = await saved();
  expect([await afterCall(randomUUID()), await afterCall(''), await afterCall('../x')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  await sandbox.killRunner();
  await expect.poll(() => afterCall(id)).toBeUndefined();
});

test('a restored state counts, unless a part of it is missing', async () => {
  const restored = async (content: string, claim: number): Promise<string> => {
    const id = randomUUID();
    const entry = {
      mode: 0o755,
      mtimeMs: 1_700_000_000_000,
      size: content.length,
      sha256: sha256Of('content'),
    };
    const frames: readonly (readonly [ArchiveHeader, string?])[] = [
      [{ type: 'begin', isFull: true }],
      [{ type: 'directory', path: 'folder', mode: 0o755 }],
      [{ type: 'file', path: 'folder/file', ...entry }],
      [{ type: 'data' }, content],
      [{ type: 'file-end', size: content.length, isWhole: true }],
      [{ type: 'symlink', path: 'link', target: 'folder/file' }],
      [{ type: 'end' }],
    ];
    const body = Buffer.concat(
      frames.map(([header, payload = '']) => encodeArchiveFrame(header, Buffer.from(payload))),
    );
    const { status } = await sandbox.ask('POST', `/restore?id=${id}&claim=${claim}`, { body });
    expect(status).toBe(200);
    return id;
  };
  expect(await afterCall(await restored('content', 1))).toBe(0);
  expect(await afterCall(await restored('CONTENT', 2))).toBeUndefined();
});

test('over 200 entries nothing is compared: a save costs as much', async () => {
  for (let at = 0; at < 200; at += 1) await writeFile(inside(`file ${at}`), '');
  sandbox.own();
  await settled();
  const id = await saved();
  expect(await afterCall(id)).toBe(0);
  await writeFile(inside('one more'), '');
  await settled();
  expect(await afterCall(await saved())).toBeUndefined();
});
