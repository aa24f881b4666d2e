/** `npm run backup`: a copy of a deployment's data as of one moment, in a folder. The deployment keeps running. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Aws } from '../deploy/aws.ts';
import { type Command, folderNamed } from '../deploy/command.ts';
import { Failure } from '../deploy/programs.ts';
import { type Services, saveBackup } from './data-copy.ts';
import { findData } from './deployment-data.ts';

type Flag = 'with-secrets' | 'live';

type Pause = (milliseconds: number) => Promise<void>;

export const backupCommandWith = (
  open: (region: string) => Services,
  pause: Pause = sleep,
): Command<Flag, 'to'> => ({
  usage: [
    'usage: npm run backup -- --to <folder> [--stage <name>] [--region <region>] [--settings <file>] [--with-secrets] [--live]',
    '',
    'Copies the table and the files of a deployment into a folder, as they were at one moment, while it works.',
    'A second backup into the same folder copies only new files.',
    '',
    '  --with-secrets  also copies the secrets of the sandboxes and of projects, in clear text',
    '  --live          reads the table itself: sooner, for a deployment that does no work',
  ].join('\n'),
  flags: ['with-secrets', 'live'],
  values: ['to'],
  run: async ({ target, terminal, to, live, 'with-secrets': withSecrets }) => {
    const folder = folderNamed(to, '--to');
    const { table, bucket, sealBucket, sandboxSecret } = await findData(target);
    const { deployment } = target.settings;
    const { aws } = target;
    const moment = live ? livingTable(table) : tableAtPointInTime({ aws, say: terminal.say, pause }, table);
    const secrets = { sandbox: sandboxSecret, prefix: `sallyport/${deployment}/` };
    const saved = {
      ...{ deployment, bucket, table: moment.open },
      ...(sealBucket !== undefined && { sealBucket }),
      ...(withSecrets && { secrets }),
    };
    try {
      const services = open(target.region);
      const { takenAt } = await saveBackup(services, saved, { folder, say: terminal.say });
      terminal.say(`The backup of ${takenAt} is in ${folder}`);
      if (!withSecrets) terminal.say('Secrets are not in it: --with-secrets adds them.');
    } finally {
      await moment.close();
    }
  },
});

/** The table of a backup: a restore of it to its latest point in time, which has no writers, or the table itself. */
type TableMoment = {
  readonly open: (after: Date) => Promise<{ readonly name: string; readonly takenAt: Date }>;
  readonly close: () => Promise<void>;
};

/** Items of it are read one after another, so anything written concurrently is there in part. */
const livingTable = (name: string): TableMoment => ({
  open: async () => ({ name, takenAt: new Date() }),
  close: async () => undefined,
});

const pollMs = 15_000;
const restoreMsMax = 6 * 3_600_000;
const momentMsMax = 3_600_000;

type Waiting = { readonly aws: Aws; readonly say: (line: string) => void; readonly pause: Pause };

type Described = { readonly Table: { readonly TableStatus?: string } };

/** The waiter of the `aws` program gives up after 25 looks, eight minutes. */
const untilActive = async ({ aws, pause }: Waiting, table: string): Promise<void> => {
  const until = Date.now() + restoreMsMax;
  for (;;) {
    const { Table } = await aws.ask<Described>('dynamodb', 'describe-table', '--table-name', table);
    if (Table.TableStatus === 'ACTIVE') return;
    if (Date.now() > until)
      throw new Failure(`table ${table} is ${Table.TableStatus} after six hours`, [
        `Delete it when it is there: aws dynamodb delete-table --region ${aws.region} --table-name ${table}`,
      ]);
    await pause(pollMs);
  }
};

type Continuous = {
  readonly ContinuousBackupsDescription: {
    readonly PointInTimeRecoveryDescription: { readonly LatestRestorableDateTime?: string | number };
  };
};

const latestMoment = async (aws: Aws, table: string): Promise<Date> => {
  const { ContinuousBackupsDescription: found } = await aws.ask<Continuous>(
    ...['dynamodb', 'describe-continuous-backups', '--table-name', table],
  );
  const latest = found.PointInTimeRecoveryDescription.LatestRestorableDateTime;
  if (latest === undefined)
    throw new Failure(`table ${table} has no point-in-time recovery`, [
      'Run `npm run doctor`; with --live the table itself is read.',
    ]);
  return new Date(typeof latest === 'number' ? latest * 1000 : latest);
};

/**
 * "The latest restorable timestamp is typically five minutes before the current time"
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/pointintimerecovery_beforeyoubegin.html). Items of an earlier moment
 * than `after` may name what was deleted before anything was copied.
 */
const momentAfter = async (waiting: Waiting, table: string, after: Date): Promise<Date> => {
  const { aws, say, pause } = waiting;
  const until = Date.now() + momentMsMax;
  for (let looks = 0; ; looks += 1) {
    const latest = await latestMoment(aws, table);
    if (latest >= after) return latest;
    if (looks === 0)
      say('Waiting for a point in time after that, which the table can be restored to: some minutes');
    if (Date.now() > until)
      throw new Failure(`table ${table} can be restored to ${latest.toISOString()}, and to no later time`, [
        'Run it again; with --live the table itself is read.',
      ]);
    await pause(pollMs);
  }
};

const tableAtPointInTime = (waiting: Waiting, table: string): TableMoment => {
  const { aws, say } = waiting;
  let copy: string | undefined;
  return {
    open: async (after) => {
      const takenAt = await momentAfter(waiting, table, after);
      const name = `${table}-backup-${takenAt.getTime()}`;
      say(`Restoring the table as of ${takenAt.toISOString()} into ${name}: a few minutes to an hour`);
      await aws.ask(
        ...['dynamodb', 'restore-table-to-point-in-time', '--source-table-name', table],
        ...['--target-table-name', name, '--restore-date-time', takenAt.toISOString()],
      );
      copy = name;
      await untilActive(waiting, name);
      return { name, takenAt };
    },
    close: async () => {
      if (copy === undefined) return;
      // One that is still restored cannot be deleted.
      await untilActive(waiting, copy);
      await aws.ask('dynamodb', 'delete-table', '--table-name', copy);
      say(`Deleted ${copy}`);
    },
  };
};
