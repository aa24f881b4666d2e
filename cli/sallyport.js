#!/usr/bin/env node
/**
 * The program's first step, in plain JavaScript for any version of Node: finds a Node that runs the TypeScript beside
 * it, the machine's own or the one installed with this package, and the compiled modules of earlier runs.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const nodeVersionMin = 24;
const main = fileURLToPath(new URL('main.ts', import.meta.url));
const ownNode = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
// biome-ignore lint/style/noProcessEnv: the one read of this step's environment
const variables = process.env;
/** The compiled modules of earlier runs spare most of the time of a start. In a shared folder others could plant code. */
const compileCache = join(
  variables['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
  'sallyport',
  'compile-cache',
);

const runWith = (/** @type {string} */ node) => {
  const child = spawn(node, [main, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: compileCache, ...variables },
  });
  // A terminal sends Ctrl-C to both processes; the child decides what it means. Without one this process alone is told.
  const isOwn = hasTerminal();
  process.on('SIGINT', () => void (isOwn || child.kill('SIGINT')));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGHUP', () => child.kill('SIGHUP'));
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
  });
  child.once('error', ({ message }) => fail(`${node} does not start: ${message}`));
};

/** Of the session of processes, whatever its input and output are. */
const hasTerminal = () => {
  if (process.platform === 'win32') return true;
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
};

const fail = (/** @type {string} */ reason) => {
  process.stderr.write(`sallyport: ${reason}\n`);
  process.exitCode = 1;
};

if (Number.parseInt(process.versions.node, 10) >= nodeVersionMin) {
  module.enableCompileCache(compileCache);
  await import('./main.ts');
} else if (existsSync(ownNode)) runWith(ownNode);
else
  fail(
    `Node ${nodeVersionMin} or newer is required, this is ${process.version}: run \`npm ci\` in the folder of Sallyport`,
  );
