/**
 * `npm run backup`: a copy of a deployment's data as of one moment, in a folder. The deployment works on meanwhile.
 */
import { type Command, folderNamed } from '../deploy/command.ts';
import { type Services, saveBackup } from './copy.ts';
import { findData } from './deployment-data.ts';
import { livingTable, tableAtPointInTime } from './table-moment.ts';

type Flag = 'with-secrets' | 'live';

export const backupCommandWith = (open: (region: string) => Services): Command<Flag, 'to'> => ({
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
    const moment = live ? livingTable(table) : tableAtPointInTime(target.aws, table, terminal.say);
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
