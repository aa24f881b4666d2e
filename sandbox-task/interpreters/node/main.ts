/**
 * The Node interpreter of a sandbox: runs one piece of code after another in one global scope.
 *
 * The scope is that of `node -e`, with `display` and an `import` for code that is not a module. The interpreter speaks
 * frames with the runner over descriptor 3 and hides nothing from the code it runs: code that writes there itself lies
 * about its own sandbox only. Output is all that reaches descriptors 1 and 2 between two marks of the runner. Guarantee
 * W12 of docs/spec/sandbox.md.
 */

import { builtinModules, createRequire } from 'node:module';
import { Socket } from 'node:net';
import { constants, Script } from 'node:vm';
import { createFrameReader, encodeFrame } from '../../wire/frame.ts';
import {
  displayBytesMax,
  type InterpreterMessage,
  type InterpreterRequest,
} from '../../wire/program-messages.ts';
import { watchTimers } from './call-timers.ts';
import { hideOwnFrames } from './evaluate.ts';
import { importName, metaName } from './rewrite-code.ts';
import { exitProcess, runCode } from './run-code.ts';

const channel = new Socket({ fd: 3, readable: true, writable: true });
const send = (message: InterpreterMessage, payload?: Buffer): void => {
  channel.write(encodeFrame(message, payload));
};

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

const serve = async ({ number, begin, end }: InterpreterRequest, code: string): Promise<void> => {
  await markStreams(begin);
  // While code runs, only what it started itself keeps the event loop going.
  channel.unref();
  const { exitCode, errorText, errorLine } = await runCode(code, `node-${number}`);
  channel.ref();
  if (errorText !== '') writers[1]?.(errorText);
  await markStreams(end);
  send({ type: 'done', exitCode, errorLine });
};

const prepareScope = (display: Display): void => {
  const folder = process.cwd();
  const require = createRequire(`${folder}/[code]`);
  define('display', display);
  define('require', require);
  define('module', { exports: {} });
  define('exports', {});
  define('__dirname', folder);
  define('__filename', `${folder}/[code]`);
  define(metaName, { dirname: folder, filename: `${folder}/[code]`, url: `file://${folder}/[code]` });
  // Its name decides what relative specifiers are relative to.
  const importer = new Script('(specifier, options) => import(specifier, options)', {
    filename: `${folder}/[code]`,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const load = importer.runInThisContext() as (specifier: string) => Promise<unknown>;
  withoutWarning(() => void load('node:path'));
  define(importName, load);
  for (const name of builtinModules) {
    if (!/^_|[/:]/.test(name) && !(name in globalThis)) defineLazily(name, () => require(name));
  }
  process.argv.splice(1);
};

/** Node warns on stderr at the first use of the loader, which is experimental. */
const withoutWarning = (act: () => void): void => {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  act();
  process.emitWarning = emitWarning;
};

const define = (name: string, value: unknown): void => {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
};

const defineLazily = (name: string, load: () => unknown): void => {
  Object.defineProperty(globalThis, name, {
    configurable: true,
    get: () => {
      const value = load();
      define(name, value);
      return value;
    },
    set: (value: unknown) => define(name, value),
  });
};

type Display = (mimeType: string, data: string | ArrayBuffer | ArrayBufferView) => void;

const createDisplay =
  (send: (message: InterpreterMessage, payload?: Buffer) => void): Display =>
  (mimeType, data) => {
    if (typeof mimeType !== 'string' || !/^(image|text)\//.test(mimeType))
      throw new TypeError(`display shows image/* and text/*, not ${String(mimeType)}`);
    const content = typeof data === 'string' ? fromText(mimeType, data) : fromBytes(data);
    const shown = content.length <= displayBytesMax ? content : undefined;
    send({ type: 'display', mimeType, bytes: content.length }, shown);
  };

const base64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

const fromText = (mimeType: string, text: string): Buffer => {
  if (mimeType.startsWith('text/')) return Buffer.from(text);
  if (base64.test(text)) return Buffer.from(text, 'base64');
  if (mimeType === 'image/svg+xml') return Buffer.from(text);
  throw new TypeError('an image is bytes or base64 text');
};

const fromBytes = (data: ArrayBuffer | ArrayBufferView): Buffer => {
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return Buffer.from(data);
  throw new TypeError('an image is bytes or base64 text');
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
prepareScope(createDisplay(send));
send({ type: 'ready' });
