/** The Chromium of the machine, for what looks at the web app: tests, benches, proofs and screenshots. As root on a Debian it is installed. */
import { inspectMachine, provision } from './system-programs.ts';

const usualPath = '/usr/bin/chromium';

/** Its path. */
export const provideChromium = async (
  { CHROMIUM_PATH, PATH = '' }: Readonly<Record<string, string | undefined>>,
  progress: (line: string) => void = (line) => process.stdout.write(`${line}\n`),
): Promise<string> => {
  if (CHROMIUM_PATH !== undefined) return CHROMIUM_PATH;
  const { hasProgram } = inspectMachine(PATH);
  if (!hasProgram(usualPath) && !(await installed(['chromium'], PATH, progress)))
    progress('Chromium is needed, and packages are installed only as root: name one with CHROMIUM_PATH');
  return usualPath;
};

/** False where this user may not, or where the system has no apt-get. */
export const installed = async (
  packages: readonly string[],
  searchPath: string,
  progress: (line: string) => void,
): Promise<boolean> => {
  const { hasProgram, isRoot } = inspectMachine(searchPath);
  if (!isRoot || !hasProgram('/usr/bin/apt-get')) return false;
  await provision({ kind: 'install', packages }, progress);
  return true;
};
