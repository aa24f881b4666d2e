/**
 * The Node interpreter of a sandbox: runs one piece of code after another in one global scope.
 *
 * It speaks frames with the runner over descriptor 3 and hides nothing from the code it runs: code that
 * writes there itself lies about its own sandbox only. Output is all that reaches descriptors 1 and 2 between two
 * marks of the runner. Guarantee W12 of docs/spec/sandbox.md.
 */
import { Socket } from 'node:net';
import { createFrameReader, encodeFrame } from '../../wire/frame.ts';
import type { InterpreterMessage, InterpreterRequest } from '../../wire/program-messages.ts';
import { watchTimers } from './call-timers.ts';
import { hideOwnFrames } from './evaluate.ts';
import { createResults } from './results.ts';
import { type Ended, exitProcess, runCode } from './run-code.ts';
import { prepareScope } from './scope.ts';

const channel = new Socket({ fd: 3, readable: true, writable: true });
const send = (message: InterpreterMessage, payload?: Buffer): void => {
  channel.write(encodeFrame(message, payload));
};

const results = createResults(send);
// biome-ignore lint/style/noProcessEnv: the environment of user code, whose variables a call may set
const variables = process.env;

/** Bound before user code can replace them. */
const streams = [process.stdout, process.stderr];
const writers = streams.map((stream) => stream.write.bind(stream));
const markStreams = async (mark: string): Promise<void> => {
  await Promise.all(
    writers.map(
      (write) =>
        new Promise<void>((resolve) => {
          write(mark, () => resolve());
        }),
    ),
  );
};

const serve = async ({ number, begin, end, ...place }: InterpreterRequest, code: string): Promise<void> => {
  await markStreams(begin);
  // While code runs, only what it started itself keeps the event loop going.
  channel.unref();
  const { exitCode, errorText, errorLine } = await runPlaced(place, () =>
    runCode(code, `node-${number}`, results.showValue),
  );
  channel.ref();
  if (errorText !== '') writers[1]?.(errorText);
  await markStreams(end);
  send({ type: 'done', exitCode, errorLine });
};

/** With a working folder and variables of its own, which end with it: later code finds them as they were before. */
const runPlaced = async (
  { cwd, env = {} }: Pick<InterpreterRequest, 'cwd' | 'env'>,
  run: () => Promise<Ended>,
): Promise<Ended> => {
  const folder = cwd === undefined ? undefined : currentFolder();
  try {
    if (cwd !== undefined) process.chdir(cwd);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { exitCode: 1, errorText: `cwd: ${cwd}: ${code}\n`, errorLine: `Error: ${code}: no such folder` };
  }
  const before = Object.keys(env).map((name) => [name, variables[name]] as const);
  Object.assign(variables, env);
  try {
    return await run();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete variables[name];
      else variables[name] = value;
    }
    if (folder !== undefined) enter(folder);
  }
};

/** Undefined when code deleted it. */
const currentFolder = (): string | undefined => {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
};

const enter = (folder: string): void => {
  try {
    process.chdir(folder);
  } catch {
    // The code deleted the folder that it was in before.
  }
};

channel.on(
  'data',
  createFrameReader(({ header, payload }) => {
    void serve(header as InterpreterRequest, payload.toString());
  }),
);
channel.on('close', () => exitProcess(0));
channel.on('error', () => exitProcess(1));

watchTimers();
hideOwnFrames();
prepareScope(results.display);
send({ type: 'ready' });
