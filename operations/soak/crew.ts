/**
 * The work of a soak: so many sessions at once, each followed by the next, of a kind that the seed decides, and a schedule.
 *
 * The load is a limit of what is in flight and no rate, so that a slow machine does less and not worse.
 */
import { branch, type Random } from '../../tests/simulation/random.ts';
import { approvals, children, failingProvider, turns } from './agent-work.ts';
import { type Ask, parsed, until } from './client.ts';
import type { RunSeen, ScheduleRecord, SessionRecord } from './record.ts';
import { commands, forks, processes } from './sandbox-work.ts';
import type { Scene } from './session.ts';

type Work = (scene: Scene) => Promise<readonly SessionRecord[]>;

const one =
  (work: (scene: Scene) => Promise<SessionRecord>): Work =>
  async (scene) => [await work(scene)];

/** A kind that stands here twice comes twice as often. */
const kinds: readonly [readonly [string, Work], ...(readonly [string, Work])[]] = [
  ['turns', one(turns)],
  ['turns', one(turns)],
  ['approvals', one(approvals)],
  ['provider', one(failingProvider)],
  ['children', children],
  ['commands', one(commands)],
  ['processes', one(processes)],
  ['forks', forks],
];

export type Crew = {
  readonly sessions: readonly SessionRecord[];
  readonly failed: readonly { readonly work: string; readonly error: string }[];
  /** Begins nothing more, and returns when what runs has ended. */
  readonly finish: () => Promise<void>;
};

export const startCrew = (scene: Omit<Scene, 'random'>, random: Random, atOnce: number): Crew => {
  const sessions: SessionRecord[] = [];
  const failed: { work: string; error: string }[] = [];
  const state = { isFinishing: false };
  const perform = async (own: Random): Promise<void> => {
    const [name, work] = own.pick(kinds);
    try {
      sessions.push(...(await work({ ...scene, random: own })));
    } catch (cause) {
      // The audit shows it: no work ends by an error.
      failed.push({ work: name, error: cause instanceof Error ? cause.message : String(cause) });
    }
  };
  const place = async (own: Random): Promise<void> => {
    while (!state.isFinishing) await perform(own);
  };
  const places = Array.from({ length: atOnce }, () => place(branch(random)));
  return {
    sessions,
    failed,
    finish: async () => {
      state.isFinishing = true;
      await Promise.all(places);
    },
  };
};

type Shown = { readonly id: string };
type History = { readonly history: readonly RunSeen[]; readonly next?: string };

const open: ReadonlySet<string> = new Set(['queued', 'running']);

/** It runs each minute, so that its due times meet every fault. Returns its end: it is disabled, its last run has ended, and its history is read. */
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
