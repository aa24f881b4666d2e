/** The figures that the log of the functions holds, also a log that a kill or a full disk has cut. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { figures } from '#shared/config/figures.ts';
import { localFigures, localRelease, noteRelease } from './figures.ts';

const [{ metric } = { metric: '' }] = figures;
const emitted = (value: number): string =>
  JSON.stringify({ _aws: { Timestamp: 1, CloudWatchMetrics: [] }, [metric]: value });

const homeWith = async (log: string): Promise<string> => {
  const home = await mkdtemp(join(tmpdir(), 'sallyport-figures-'));
  await mkdir(join(home, 'logs'));
  await writeFile(join(home, 'logs', 'functions.log'), log);
  return home;
};

test.each([
  ['that is cut at its end', `${emitted(3)}\n${emitted(5).slice(0, -4)}`],
  [
    'that is cut, and written on by the next start',
    `${emitted(5).slice(0, 40)}${emitted(7)}\n${emitted(3)}\n`,
  ],
  ['with a text that names the field', `a text of "CloudWatchMetrics"\n${emitted(3)}\n`],
])('a log %s keeps the figures of its whole lines', async (_how, log) => {
  const home = await homeWith(log);
  expect(await localFigures(home, 0)).toEqual({ [metric]: { count: 1, p50: 3, p95: 3, p99: 3 } });
});

test('a log that is cut keeps no other version from starting', async () => {
  const home = await homeWith(emitted(5).slice(0, -4));
  await noteRelease(home, 0, '1.0.0');
  await noteRelease(home, 0, '2.0.0');
  expect((await localRelease(home))?.version).toBe('2.0.0');
});

test('a note of the release that was cut counts as none', async () => {
  const home = await homeWith('');
  await writeFile(join(home, 'release.json'), '{"vers');
  await noteRelease(home, 0, '2.0.0');
  expect(await localRelease(home)).toEqual({ version: '2.0.0' });
});
