/** Entry of `npm run backup` and `npm run restore`: the first argument names the command. */
import { runCommand, runNamed } from '../deploy/command.ts';
import { backupCommandWith } from './backup.ts';
import { openServices } from './deployment-data.ts';
import { restoreCommandWith } from './restore.ts';

await runNamed({
  backup: (machine) => runCommand(backupCommandWith(openServices), machine),
  restore: (machine) => runCommand(restoreCommandWith(openServices), machine),
});
