/** Schedules against a real DynamoDB engine: listed where they run, written once per version, their runs ended once. */
import { randomBytes } from 'node:crypto';
import { DeleteCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { partitionItems } from '#shared/adapters/aws/dynamo/partition.ts';
import { makeScheduleStore } from '#shared/adapters/aws/dynamo/schedules.ts';
import { type Item, keys, type Table } from '#shared/adapters/aws/dynamo/table.ts';
import type { MessageId, SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import type { Run } from '#shared/domain/schedule/run.ts';
import { type Schedule, type ScheduleId, targetKey } from '#shared/domain/schedule/schedule.ts';
import { fake } from '../fake.ts';
import { newProjectId, newRun, newSchedule } from './schedule-fixture.ts';
import { atOnce, farAway, tally } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const store = () => makeScheduleStore(fixture.table);
const noDue = { dueAt: undefined, schedulesMax: 50 };
const made = async (change: Partial<Schedule> = {}, dueAt?: number): Promise<Schedule> => {
  const schedule = newSchedule(change);
  expect(await store().create(schedule, { dueAt, schedulesMax: 50 })).toBe('created');
  return schedule;
};
const stateOf = async ({ id }: Pick<Schedule, 'id'>) => {
  const state = await store().find(id);
  if (state === undefined) throw new Error('there is no such schedule');
  return state;
};
const written = async (next: Schedule, read: Schedule, runs: readonly Run[] = []): Promise<Schedule> => {
  const result = await store().write(next, { read, runs, ...noDue });
  if (typeof result === 'string') throw new Error(result);
  return result;
};
/** Its first query sees the item of this key as it was. */
const tornStore = (half: string, old: readonly Item[]) => {
  let isTorn = true;
  const send = async (command: Parameters<Table['client']['send']>[0]) => {
    const answer = await fixture.table.client.send(command as QueryCommand);
    if (!(command instanceof QueryCommand) || !isTorn) return answer;
    isTorn = false;
    const Items = [...(answer.Items ?? []), ...old].filter(
      (item) => (item['sk'] === half) === old.includes(item),
    );
    return { ...answer, Items };
  };
  return makeScheduleStore({ ...fixture.table, client: fake<Table['client']>({ send: send as never }) });
};
const pin = { session: crypto.randomUUID() as SessionId, workspace: crypto.randomUUID() as WorkspaceId };
const newestFirst = { itemsMax: 10, now: 100_000 };

describe('a schedule', () => {
  test.each<[string, Partial<Schedule>]>([
    ['small', {}],
    ['disabled', { isEnabled: false, disabledReason: 'why' }],
    ['whole', { lastRunAt: 1, armedFor: 60_000, overlap: 'queue', sessions: 'new', version: 3 }],
    ['of a person', { creator: { ...newSchedule().creator, isPerson: true, expiresAt: 5 } }],
    ['with ten targets', { targets: Array.from({ length: 10 }, () => ({ project: newProjectId() })) }],
    ['in a workspace', { targets: [{ project: newProjectId(), workspace: pin.workspace }] }],
    ['with 100 KB that do not compress', { prompt: randomBytes(51_200).toString('hex') }],
  ])('%s is read back as it was made', async (_, change) => {
    const schedule = await made(change);
    expect(await store().find(schedule.id)).toEqual({ schedule, pins: new Map(), open: [] });
    const [listed] = await store().listOf(schedule.targets[0]?.project ?? newProjectId());
    const isPromptCut = schedule.prompt.length > 1000;
    expect(listed).toEqual({ ...schedule, prompt: schedule.prompt.slice(0, 1000), isPromptCut });
  });

  test('that does not exist is not found', async () => {
    expect(await store().find(crypto.randomUUID() as ScheduleId)).toBeUndefined();
    expect(await store().listOf(newProjectId())).toEqual([]);
  });

  test('is listed newest first, by its project and by the deployment', async () => {
    const project = newProjectId();
    const targets = [{ project }];
    const ids: string[] = [];
    for (const createdAt of [5000, 7000, 6000])
      ids.push((await made({ targets, createdAt: farAway + createdAt })).id);
    const order = [ids[1], ids[2], ids[0]];
    expect((await store().listOf(project)).map(({ id }) => id)).toEqual(order);
    const first = await store().list({ itemsMax: 2 });
    const second = await store().list({ itemsMax: 1, after: first.next ?? '' });
    expect([...first.schedules, ...second.schedules].map(({ id }) => id)).toEqual(order);
  });

  test('counts in each project it runs in, up to the limit', async () => {
    const [one, other] = [newProjectId(), newProjectId()];
    const make = () =>
      store().create(newSchedule({ targets: [{ project: one }, { project: other }] }), {
        dueAt: undefined,
        schedulesMax: 3,
      });
    expect(tally(await atOnce(8, make))).toEqual({ created: 3, full: 5 });
    expect([(await store().listOf(one)).length, (await store().listOf(other)).length]).toEqual([3, 3]);
  });
});

describe('J1: a write', () => {
  test('over one version succeeds for one of twenty', async () => {
    const read = await made();
    const writes = await atOnce(20, async (index) => {
      const result = await store().write({ ...read, name: `n${index}` }, { read, ...noDue });
      return typeof result === 'string' ? result : 'written';
    });
    expect(tally(writes)).toEqual({ written: 1, moved: 19 });
    expect((await stateOf(read)).schedule.version).toBe(1);
  });

  test('moves it between projects, and updates their counts', async () => {
    const read = await made();
    const [from] = read.targets;
    const to = newProjectId();
    const standing = await made({ targets: [{ project: to }] });
    const moved = { ...read, targets: [{ project: to }] };
    expect(await store().write(moved, { read, dueAt: undefined, schedulesMax: 1 })).toBe('full');
    const next = await written(moved, read);
    expect(await store().listOf(from?.project ?? to)).toEqual([]);
    expect(await store().listOf(to)).toHaveLength(2);
    await written({ ...next, isDeleted: true }, next);
    expect((await store().listOf(to)).map(({ id }) => id)).toEqual([standing.id]);
    const again = newSchedule({ targets: [{ project: to }] });
    expect(await store().create(again, { dueAt: undefined, schedulesMax: 2 })).toBe('created');
  });

  test('changes a prompt from short to long and back', async () => {
    const read = await made();
    const long = await written({ ...read, prompt: 'é'.repeat(5000) }, read);
    expect((await stateOf(read)).schedule.prompt).toBe('é'.repeat(5000));
    await written({ ...long, prompt: 'short' }, long);
    expect((await stateOf(read)).schedule.prompt).toBe('short');
  });

  test.each([
    ['long to short', 'a'.repeat(5000), 'short'],
    ['short to long', 'short', 'a'.repeat(5000)],
    ['long to another with its beginning', `${'a'.repeat(5000)} one`, `${'a'.repeat(5000)} other`],
  ])(
    'has the prompt of one moment, although a query met half of its change from %s',
    async (_, one, other) => {
      const before = await made({ prompt: one });
      const old = await partitionItems(fixture.table, { pk: keys.schedule(before.id).pk, from: '' });
      await written({ ...before, prompt: other }, before);
      for (const half of ['META', 'PROMPT'])
        expect((await tornStore(half, old).find(before.id))?.schedule.prompt, half).toBe(other);
    },
  );

  test('whose clean-up was left half done is found', async () => {
    const schedule = await made({ prompt: 'a'.repeat(5000) });
    const Key = keys.schedulePrompt(schedule.id);
    await fixture.table.client.send(new DeleteCommand({ TableName: fixture.table.name, Key }));
    expect(await store().find(schedule.id)).toBeDefined();
  });

  test('keeps the pins of targets that stay, and drops those of targets that go', async () => {
    const [stays, goes] = [{ project: newProjectId() }, { project: newProjectId() }];
    const read = await made({ targets: [stays, goes] });
    await store().pin(read.id, stays, { pin, former: undefined });
    await store().pin(read.id, goes, { pin, former: undefined });
    await written({ ...read, targets: [stays, { project: newProjectId() }] }, read);
    expect((await stateOf(read)).pins).toEqual(new Map([[targetKey(stays), pin]]));
  });

  test('J2: begins runs with it or not at all', async () => {
    const read = await made();
    const next = await written(read, read, [newRun(read), newRun(read, { part: '1' })]);
    expect((await stateOf(read)).open.map(({ part }) => part)).toEqual(['0', '1']);
    const again = await store().write(next, {
      read: next,
      runs: [newRun(read, { part: '2' }), newRun(read)],
      ...noDue,
    });
    expect(again).toBe('moved');
    expect((await stateOf(read)).open).toHaveLength(2);
  });
});

describe('J8: beside a deleted schedule', () => {
  const chosen = (run: Run): Run => ({ ...run, session: pin.session });
  const partition = async (id: ScheduleId) =>
    (await partitionItems(fixture.table, { pk: keys.schedule(id).pk, from: ' ', to: '~' })).map(
      ({ sk }) => sk,
    );

  test('no run begins', async () => {
    const read = await made();
    const run = newRun(read);
    const next = await written(read, read, [run]);
    expect(await store().beginRun(chosen(run))).toBe(true);
    expect((await stateOf(read)).open).toEqual([{ ...chosen(run), version: 1 }]);
    expect(await store().beginRun(chosen(run))).toBe(false);
    await written({ ...next, isDeleted: true }, next);
    expect(await store().beginRun({ ...chosen(run), version: 1 })).toBe(false);
    await store().clear(await stateOf(read));
    expect(await store().beginRun({ ...chosen(run), version: 1 })).toBe(false);
    expect(await partition(read.id)).toEqual([]);
  });

  test.each([
    ['has the workspace', { workspace: pin.workspace }, true],
    ['is the default one', {}, false],
  ])('no target is pinned, and none that is not its own: %s', async (_, where, isOwn) => {
    const project = newProjectId();
    const read = await made({ targets: [{ project, workspace: pin.workspace }] });
    const target = { project, ...where };
    expect(await store().pin(read.id, target, { pin, former: undefined })).toBe(isOwn);
    const next = await written({ ...read, isDeleted: true }, read);
    expect(await store().pin(read.id, target, { pin, former: undefined })).toBe(false);
    await store().clear(await stateOf(next));
    expect(await store().pin(read.id, target, { pin, former: undefined })).toBe(false);
    expect(await partition(read.id)).toEqual([]);
  });

  test('a pin is replaced by the caller that read it, and by no other', async () => {
    const target = { project: newProjectId() };
    const read = await made({ targets: [target] });
    const later = { ...pin, session: crypto.randomUUID() as SessionId };
    const own = { ...pin, session: crypto.randomUUID() as SessionId };
    const set = (one: typeof pin, former?: typeof pin) => store().pin(read.id, target, { pin: one, former });
    expect([await set(pin), await set(later, pin), await set(later, pin)]).toEqual([true, true, true]);
    expect([await set(own), await set(own, pin)]).toEqual([false, false]);
    expect((await stateOf(read)).pins).toEqual(new Map([[targetKey(target), later]]));
  });
});

describe('J5: a run', () => {
  const begun = async (): Promise<Run> => {
    const read = await made();
    const run = newRun(read);
    await written(read, read, [run]);
    return run;
  };

  test('changes while open, each version once', async () => {
    const run = await begun();
    const going: Run = {
      ...run,
      state: 'running',
      startedAt: 62_000,
      session: pin.session,
      message: 'm' as MessageId,
      since: -1,
      hasBegun: true,
      isAlone: true,
      dueAt: 122_000,
    };
    expect(tally(await atOnce(5, () => store().saveRun(going)))).toEqual({ true: 1, false: 4 });
    expect((await stateOf({ id: run.schedule })).open).toEqual([{ ...going, version: 1 }]);
    expect(await store().history(run.schedule, newestFirst)).toEqual({ runs: [] });
  });

  test('ends once, and moves to the history', async () => {
    const run = await begun();
    const { dueAt: _, ...rest } = run;
    const ends = (['success', 'failed', 'skipped'] as const).map((state) => ({
      ...rest,
      state,
      endedAt: 99_000,
    }));
    const saved = await Promise.all(ends.map((end) => store().saveRun(end)));
    expect(tally(saved)).toEqual({ true: 1, false: 2 });
    expect((await stateOf({ id: run.schedule })).open).toEqual([]);
    const { runs } = await store().history(run.schedule, newestFirst);
    expect(runs).toEqual([{ ...ends[saved.indexOf(true)], version: 1 }]);
  });

  test('is in the history for thirty days', async () => {
    const read = await made();
    await written(read, read, [newRun(read, { state: 'failed', endedAt: 99_000, problem: 'why' })]);
    const rows = async (now: number) => (await store().history(read.id, { itemsMax: 10, now })).runs.length;
    expect([await rows(99_000 + 30 * 86_400_000 - 1), await rows(99_000 + 30 * 86_400_000 + 1000)]).toEqual([
      1, 0,
    ]);
  });

  test('the history is read newest first, page by page', async () => {
    const read = await made();
    const moments = [60_000, 120_000, 180_000, 240_000, 1_795_000_000_000];
    await written(
      read,
      read,
      moments.map((runAt) => newRun(read, { runAt, state: 'success', endedAt: runAt })),
    );
    const seen: number[] = [];
    let after: string | undefined;
    do {
      const page = await store().history(read.id, {
        itemsMax: 2,
        now: 100_000,
        ...(after === undefined ? {} : { after }),
      });
      seen.push(...page.runs.map(({ runAt }) => runAt));
      after = page.next;
    } while (after !== undefined);
    expect(seen).toEqual(moments.toReversed());
  });
});

describe('J4: due are', () => {
  const dueBy = async (now: number) => (await Array.fromAsync(store().due(now, 10_000))).flat();
  const isDue = async ({ id }: Schedule, now: number): Promise<boolean> => (await dueBy(now)).includes(id);

  test('a schedule whose moment has come, and none without work', async () => {
    const [soon, never] = [await made({}, 5000), await made()];
    expect([await isDue(soon, 4999), await isDue(soon, 5000), await isDue(never, farAway)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  test('a schedule with a run to be polled, once, until it has ended', async () => {
    const read = await made();
    const runs = [newRun(read), newRun(read, { part: '1', dueAt: 95_000 })];
    await written(read, read, runs);
    expect([await isDue(read, 90_999), await isDue(read, 95_000)]).toEqual([false, true]);
    expect((await dueBy(95_000)).filter((id) => id === read.id)).toHaveLength(1);
    for (const { dueAt: _, ...run } of runs) await store().saveRun({ ...run, state: 'skipped', endedAt: 1 });
    expect(await isDue(read, farAway)).toBe(false);
  });
});

test('clearing a schedule keeps only its history', async () => {
  const read = await made({ prompt: 'x'.repeat(5000) }, 1);
  const ended = newRun(read, { part: '1', state: 'success', endedAt: 99_000 });
  await written(read, read, [newRun(read), ended]);
  for (const target of read.targets)
    expect(await store().pin(read.id, target, { pin, former: undefined })).toBe(true);
  await store().clear(await stateOf(read));
  expect(await store().find(read.id)).toBeUndefined();
  expect(await store().due(farAway, 10_000)).not.toContain(read.id);
  expect((await store().history(read.id, newestFirst)).runs).toHaveLength(1);
});
