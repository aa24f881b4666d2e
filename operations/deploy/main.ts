/** Entry of `npm run deploy`, `npm run doctor` and `npm run destroy`: the first argument names the command. */
import { runCommand, runNamed } from './command.ts';
import { deployCommand } from './deploy.ts';
import { destroyCommand } from './destroy.ts';
import { doctorCommand } from './doctor.ts';

await runNamed({
  deploy: (machine) => runCommand(deployCommand, machine),
  doctor: (machine) => runCommand(doctorCommand, machine),
  destroy: (machine) => runCommand(destroyCommand, machine),
});
