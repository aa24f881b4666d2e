import { expect, test } from 'vitest';
import type { UsageMeasurement } from '#shared/domain/usage-metrics.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import { openUsageRecorder } from './usage-recorder.ts';

const heard = () => {
  const said: string[] = [];
  const say = (message: string): void => void said.push(message);
  const telemetry: Telemetry = { info: say, warn: say, error: say, count: say, duration: say };
  return { said, telemetry };
};
const started = { event: 'sandbox_started', source: 'cold', startMs: 1000 };

test('recorded metrics are stored in one write, once, and telemetry receives them as before', async () => {
  const kept: (readonly UsageMeasurement[])[] = [];
  const { said, telemetry } = heard();
  const notes = openUsageRecorder({ now: () => 5, after: () => undefined });
  const ears = notes.listening(telemetry);
  notes.keepIn({ add: async (all) => void kept.push(all) });
  ears.info('a sandbox is ready', started);
  ears.count('SandboxesRunning', 2);
  ears.info('something else');
  await notes.flush();
  await notes.flush();
  expect(kept).toEqual([[{ add: 'cold|40' }, { set: 'sandboxes', to: 2 }]]);
  expect(said).toEqual(['a sandbox is ready', 'SandboxesRunning', 'something else']);
});

test('a failed write of the history is logged and breaks nothing', async () => {
  const { said, telemetry } = heard();
  const notes = openUsageRecorder();
  notes.keepIn({ add: () => Promise.reject(new Error('no table')) });
  notes.listening(telemetry).info('a sandbox is ready', started);
  await notes.flush();
  expect(said).toEqual(['a sandbox is ready', 'usage metrics were not stored']);
});

test('a busy function writes once in ten seconds, and counts each measurement at its time', async () => {
  const kept: [number, number][] = [];
  const timers: { readonly milliseconds: number; readonly work: () => void }[] = [];
  let now = 1000;
  const after = (milliseconds: number, work: () => void): void => void timers.push({ milliseconds, work });
  const notes = openUsageRecorder({ now: () => now, after });
  notes.keepIn({ add: async (all, at) => void kept.push([all.length, at]) });
  const ears = notes.listening(heard().telemetry);
  for (const at of [1000, 2000, 3000]) {
    now = at;
    ears.info('a sandbox is ready', started);
    await notes.flush();
  }
  expect(kept).toEqual([[1, 1000]]);
  expect(timers.map(({ milliseconds }) => milliseconds)).toEqual([9000]);
  now = 11_000;
  timers[0]?.work();
  expect(kept).toEqual([
    [1, 1000],
    [2, 2000],
  ]);
});
