/** A schedule as the endpoint keeps it: one file each, replaced whole, so that a power cut leaves the old or the new. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CreateScheduleCommandInput } from '@aws-sdk/client-scheduler';

/** The request's JSON, as the SDK wrote it, with what the endpoint adds. */
export type StoredSchedule = Omit<CreateScheduleCommandInput, 'StartDate' | 'EndDate' | 'ClientToken'> & {
  readonly Name: string;
  readonly GroupName: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly createdAt: number;
  /** The token under which it was made: a retry gets the first answer. */
  readonly token?: string | undefined;
};

export type ScheduleFiles = {
  readonly kept: readonly StoredSchedule[];
  readonly write: (schedule: StoredSchedule) => Promise<void>;
  readonly remove: (schedule: StoredSchedule) => Promise<void>;
};

const ownFolder = 0o700;
const ownFile = 0o600;
const suffix = '.json';

export const scheduleKey = ({ GroupName, Name }: Pick<StoredSchedule, 'GroupName' | 'Name'>): string =>
  `${GroupName}/${Name}`;

export const openScheduleFiles = async (folder: string): Promise<ScheduleFiles> => {
  await mkdir(folder, { recursive: true, mode: ownFolder });
  const names = await readdir(folder);
  const whole = names.filter((name) => name.endsWith(suffix));
  for (const name of names.filter((other) => other.endsWith('.tmp'))) await rm(join(folder, name));
  const pathOf = (schedule: StoredSchedule): string =>
    join(folder, `${createHash('sha256').update(scheduleKey(schedule)).digest('hex')}${suffix}`);
  return {
    kept: await Promise.all(
      whole.map(
        async (name): Promise<StoredSchedule> => JSON.parse(await readFile(join(folder, name), 'utf8')),
      ),
    ),
    write: (schedule) => replace(folder, pathOf(schedule), JSON.stringify(schedule)),
    remove: (schedule) => rm(pathOf(schedule), { force: true }),
  };
};

const replace = async (folder: string, path: string, text: string): Promise<void> => {
  const temporary = join(folder, `${randomUUID()}.tmp`);
  const file = await open(temporary, 'wx', ownFile);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
};
