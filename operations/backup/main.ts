/** Entry of `npm run backup` and `npm run restore`: the first argument names the command. */
import { runCommand } from '../deploy/command.ts';
import { openPrograms } from '../deploy/programs.ts';
import { backupCommandWith } from './backup.ts';
import { openServices } from './deployment-data.ts';
import { restoreCommandWith } from './restore.ts';

const [name, ...args] = process.argv.slice(2);
const machine = {
  args,
  // biome-ignore lint/style/noProcessEnv: the one read of this program's environment.
  variables: process.env,
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  open: openPrograms,
};
const run = {
  backup: () => runCommand(backupCommandWith(openServices), machine),
  restore: () => runCommand(restoreCommandWith(openServices), machine),
}[String(name)];
if (run === undefined) throw new Error(`there is no command ${name}`);
process.exitCode = await run();
