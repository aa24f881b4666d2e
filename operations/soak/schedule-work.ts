/**
 * A schedule that runs each minute of a soak, so that its due times meet every fault. Each run makes a session of its own.
 */
import { type Ask, parsed, until } from './client.ts';
import type { RunSeen, ScheduleRecord } from './record.ts';

type Shown = { readonly id: string };
type History = { readonly history: readonly RunSeen[]; readonly next?: string };

const open: ReadonlySet<string> = new Set(['queued', 'running']);

/** Returns its end: it is disabled, its last run has ended, and its history is read. */
export const startSchedule = async (ask: Ask): Promise<() => Promise<ScheduleRecord>> => {
  const project = parsed<Shown>(await ask('/api/projects', { body: { name: 'soak' } }));
  const body = { name: 'soak', cronExpr: '* * * * *', prompt: 'hello', targets: [{ projectId: project.id }] };
  const { id } = parsed<Shown>(await ask('/api/schedules', { body }));
  const from = Date.now();
  return async () => {
    await ask(`/api/schedules/${id}`, { method: 'PATCH', body: { enabled: false } });
    const to = Date.now();
    const runs = await until(
      () => historyOf(ask, id),
      (history) => history.every(({ status }) => !open.has(status)),
      `the runs of schedule ${id} end`,
    );
    return { id, from, to, runs };
  };
};

const historyOf = async (ask: Ask, id: string): Promise<readonly RunSeen[]> =>
  parsed<History>(await ask(`/api/schedules/${id}/history?limit=100`)).history;
