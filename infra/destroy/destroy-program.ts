/** What `npm run destroy` takes, and says of itself. */
import type { Program } from '../deploy/program.ts';
import { destroy } from './destroy.ts';

export const destroyProgram: Program<'keep-data'> = {
  usage: [
    'usage: npm run destroy [-- --stage <name>] [--region <region>] [--yes] [--keep-data]',
    '',
    'Stops the sandboxes of a deployment and deletes what it made: stacks, data, logs, secrets.',
    '',
    '  --yes        asks nothing',
    '  --keep-data  keeps the table, the checkpoints, the secrets and the key they rest under',
  ].join('\n'),
  flags: ['keep-data'],
  run: ({ 'keep-data': keepData, ...wish }) => destroy({ ...wish, keepData }),
};
