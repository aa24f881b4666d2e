/**
 * Setup of every test run: the system programs of a sandbox, as `npm start` provides them.
 *
 * The functions are bundled here, since workers that begin at once would all do it.
 *
 * Nothing about the machine fails here: a machine that cannot have them is told so in one line, and the tests that need a
 * sandbox say the rest.
 */
import { bundledFunctions } from '../local/function-bundles.ts';
import { provideSystemPrograms } from '../local/system-programs.ts';

export const setup = async (): Promise<void> => {
  // biome-ignore lint/style/noProcessEnv: the test run is a program of its own, and this is its one read
  await provideSystemPrograms(process.env);
  await bundledFunctions();
};
