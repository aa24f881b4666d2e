/** Entry of `npm run deploy`, `npm run doctor` and `npm run destroy`: the first argument names the command. */
import { runCommand } from './command.ts';
import { deployCommand } from './deploy.ts';
import { destroyCommand } from './destroy.ts';
import { doctorCommand } from './doctor.ts';
import { openPrograms } from './programs.ts';

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
  deploy: () => runCommand(deployCommand, machine),
  doctor: () => runCommand(doctorCommand, machine),
  destroy: () => runCommand(destroyCommand, machine),
}[String(name)];
if (run === undefined) throw new Error(`there is no command ${name}`);
process.exitCode = await run();
