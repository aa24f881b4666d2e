/** `npm run deploy`: from credentials to an address and a token. */
import { deployProgram } from './deploy-program.ts';
import { runProgram } from './program.ts';
import { openPrograms } from './programs.ts';

process.exitCode = await runProgram(deployProgram, {
  args: process.argv.slice(2),
  // biome-ignore lint/style/noProcessEnv: the one read of this program's environment.
  variables: process.env,
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  open: openPrograms,
});
