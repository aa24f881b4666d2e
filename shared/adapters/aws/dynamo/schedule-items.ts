/**
 * Schedules, pins and runs as items. Everything that a decision needs lies side by side, so that one query from
 * `META` to `PROMPT` reads it and none of the history; a long prompt is an item of its own, so that a run does
 * not write it again.
 */
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { decodeStored } from '#shared/contracts/decode.ts';
import { pinRecord, runRecord, scheduleRecord } from '#shared/contracts/stored/schedule-records.ts';
import { promptExcerptCharactersMax, runHistoryMs } from '#shared/domain/schedule/limits.ts';
import type { ScheduleState } from '#shared/domain/schedule/next-step.ts';
import { isOpen, type Run, runName } from '#shared/domain/schedule/run.ts';
import type { ListedSchedule, Pin, Schedule, ScheduleId } from '#shared/domain/schedule/schedule.ts';
import { dueValues, type Item, keys } from './table.ts';

/** More than a prompt may have; a longer claimed size is not unpacked. */
const promptBytesMax = 1_048_576;

export const schedulesPartition = 'OWNER#deployment#SCHEDULE';

export const isLongPrompt = ({ prompt }: Pick<Schedule, 'prompt'>): boolean =>
  prompt.length > promptExcerptCharactersMax;

const dueOf = (id: ScheduleId, dueAt: number | undefined): Item =>
  dueAt === undefined ? {} : { duePk: dueValues('schedule', id, dueAt)[':duePk'], dueAt };

export const scheduleItem = (schedule: Schedule, dueAt: number | undefined): Item => {
  const { id, createdAt, prompt, isDeleted } = schedule;
  return {
    ...keys.schedule(id),
    ...schedule,
    prompt: excerpt(prompt),
    isPromptCut: isLongPrompt(schedule),
    ...(isLongPrompt(schedule) && { promptHash: hashOf(prompt) }),
    ...dueOf(id, dueAt),
    ...(isDeleted
      ? {}
      : { ownerPk: schedulesPartition, ownerSk: `${String(createdAt).padStart(13, '0')}#${id}` }),
  };
};

const hashOf = (prompt: string): string => createHash('sha256').update(prompt).digest('base64url');

/** Cut on whole characters. */
const excerpt = (prompt: string): string =>
  prompt.slice(0, promptExcerptCharactersMax).replace(/[\uD800-\uDBFF]$/, '');

export const promptItem = ({ id, prompt }: Schedule): Item => ({
  ...keys.schedulePrompt(id),
  packed: gzipSync(prompt),
  promptHash: hashOf(prompt),
});

/** The prompt of a listed schedule is the excerpt in its own item. */
export const listedFrom = (item: Item): ListedSchedule => ({
  ...decodeStored(scheduleRecord, item),
  isPromptCut: item['isPromptCut'] === true,
});

export const runItem = (run: Run): Item => {
  const { schedule, state, dueAt, endedAt = run.claimedAt } = run;
  if (isOpen(state)) return { ...keys.openRun(schedule, runName(run)), ...run, ...dueOf(schedule, dueAt) };
  const ttl = Math.ceil((endedAt + runHistoryMs) / 1000);
  return { ...keys.endedRun(schedule, runName(run)), ...run, ttl };
};

export const runFrom = (item: Item): Run => decodeStored(runRecord, item);

const promptFrom = ({ packed }: Item): string => {
  if (!(packed instanceof Uint8Array)) throw new Error('a stored prompt has an unknown shape');
  return gunzipSync(packed, { maxOutputLength: promptBytesMax }).toString();
};

/**
 * True when the schedule has the prompt that it names: a query sees the items of a transaction one by one
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation).
 */
export const hasItsPrompt = (items: readonly Item[]): boolean => {
  const { meta, prompt } = ownItems(items);
  return meta === undefined || meta['promptHash'] === prompt?.['promptHash'];
};

const ownItems = (items: readonly Item[]) => ({
  meta: items.find(({ sk }) => sk === keys.schedule('').sk),
  prompt: items.find(({ sk }) => sk === keys.schedulePrompt('').sk),
});

/** The state from one query's items; undefined when there is no schedule. */
export const stateFrom = (items: readonly Item[]): ScheduleState | undefined => {
  const { meta, prompt } = ownItems(items);
  if (meta === undefined) return undefined;
  const schedule = decodeStored(scheduleRecord, meta);
  const from = (prefix: string): readonly Item[] => items.filter(({ sk }) => String(sk).startsWith(prefix));
  const pinned = from(keys.schedulePin('', '').sk).map((item): [string, Pin] => [
    String(item['sk']).slice(keys.schedulePin('', '').sk.length),
    decodeStored(pinRecord, item),
  ]);
  return {
    schedule: prompt === undefined ? schedule : { ...schedule, prompt: promptFrom(prompt) },
    pins: new Map(pinned),
    open: from(keys.openRun('', '').sk).map(runFrom),
  };
};
