/** `npm run destroy`: what a deployment made goes, and what is left is said. */

import { runProgram } from '../deploy/program.ts';
import { openPrograms } from '../deploy/programs.ts';
import { destroyProgram } from './destroy-program.ts';

process.exitCode = await runProgram(destroyProgram, {
  args: process.argv.slice(2),
  // biome-ignore lint/style/noProcessEnv: the one read of this program's environment.
  variables: process.env,
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  open: openPrograms,
});
