/**
 * `shell`: a terminal in the sandbox of a session, as a terminal of this machine, over the WebSocket.
 *
 * The output of the terminal is written unchanged, as by any remote shell. Ctrl-] leaves it running, to be attached again.
 * After a lost connection the output continues where it was; keys that were typed in between are reported as lost.
 */
import { StringDecoder } from 'node:string_decoder';
import type { ConnectionState } from '#sdk/connection.ts';
import type { Sandbox } from '#sdk/sandbox.ts';
import type { SandboxProcess } from '#sdk/sandbox-processes.ts';
import type { Terminal } from '#sdk/terminal.ts';
import { type Call, type Command, value } from '../runtime/command.ts';
import { wrongUsage } from '../runtime/failure.ts';
import type { Host } from '../runtime/host.ts';
import {
  networkDetail,
  newSandboxOptions,
  newSandboxUsage,
  newSessionOf,
  refuseBesideSession,
} from './new-session.ts';

const leaveKey = 0x1d;
const colsDefault = 80;
const rowsDefault = 24;

const run = async (call: Call): Promise<number> => {
  const { host, output } = call;
  if (host.stdin.isTTY !== true || host.stdout.isTTY !== true)
    throw wrongUsage('shell needs a terminal', ['Use `sallyport exec` in scripts.']);
  refuseBesideSession(call, []);
  const attached = call.text('attach');
  if (attached !== undefined && (call.text('session') === undefined || call.positionals.length > 0))
    throw wrongUsage('--attach needs --session, and no command');
  const sandbox = await openSandbox(call);
  const process =
    attached === undefined
      ? await sandbox.processes.start(call.positionals[0] ?? 'bash', { pty: sizeOf(host) })
      : sandbox.processes.get(attached);
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<End>();
  const screen = openScreen(call);
  const early = openEarlyKeys();
  const terminal = process.attach({
    size: sizeOf(host),
    onOutput: screen.write,
    onGap: (from, to) => screen.write(`\r\n[${to - from} bytes of output are no longer kept]\r\n`),
    onExit: ({ exitCode }) => end({ isOver: true, code: exitCode ?? 1 }),
    onInputLost: (error) => screen.write(`\r\n[keys were lost: ${error.message}]\r\n`),
    onState: (state) => {
      if (state.kind === 'ended') fail(state.error);
      else screen.showState(state);
      if (state.kind === 'connected') early.flush(terminal);
    },
  });
  const keys = takeKeys(host, {
    type: (text) => {
      if (!terminal.type(text)) early.keep(text);
    },
    onLeave: () => end({ isOver: false, code: 0 }),
  });
  const stopResizing = followSize(host, terminal);
  try {
    const { isOver, code } = await ended;
    await screen.drained();
    if (!isOver) output.note(howToReturn(process));
    return code;
  } finally {
    stopResizing();
    keys.stop();
    terminal.close();
  }
};

type End = { readonly isOver: boolean; readonly code: number };

const howToReturn = ({ sessionId, processId }: SandboxProcess): string =>
  `\nThe terminal keeps running. To return: sallyport shell --session ${sessionId} --attach ${processId}`;

const openSandbox = async (call: Call): Promise<Sandbox> => {
  const { sandboxes } = await call.client();
  const id = call.text('session');
  if (id !== undefined) return sandboxes.get(id);
  const sandbox = await sandboxes.create(newSessionOf(call));
  call.output.note(`Session ${sandbox.id}. Ctrl-] leaves the terminal running.`);
  return sandbox;
};

/** A terminal that does not know its size has none, or zero. */
const sizeOf = ({ stdout: { columns = 0, rows = 0 } }: Host) => ({
  cols: columns || colsDefault,
  rows: rows || rowsDefault,
});

/** Pieces are written in the order in which they come. */
const openScreen = ({ output }: Call) => {
  let writing: Promise<void> = Promise.resolve();
  let isLost = false;
  const write = (text: string): void => {
    if (text !== '') writing = writing.then(() => output.raw(text));
  };
  return {
    write,
    drained: () => writing,
    showState: ({ kind }: ConnectionState): void => {
      if (kind === 'lost' && !isLost) write('\r\n[connection lost, reconnecting]\r\n');
      if (kind === 'lost') isLost = true;
      if (kind === 'connected') isLost = false;
    },
  };
};

const earlyCharactersMax = 4000;

/** Keys that are typed before there is a connection wait for the first one, and only for that. */
const openEarlyKeys = () => {
  let waiting: string | undefined = '';
  return {
    keep: (text: string): void => {
      if (waiting !== undefined && waiting.length + text.length <= earlyCharactersMax) waiting += text;
    },
    flush: (terminal: Terminal): void => {
      if (waiting) terminal.type(waiting);
      waiting = undefined;
    },
  };
};

type Typing = { readonly type: (text: string) => void; readonly onLeave: () => void };

const takeKeys = ({ stdin }: Host, { type, onLeave }: Typing): { readonly stop: () => void } => {
  // A character may arrive in two chunks.
  const decoder = new StringDecoder('utf8');
  const onKeys = (typed: Buffer): void => {
    const left = typed.indexOf(leaveKey);
    const text = decoder.write(left < 0 ? typed : typed.subarray(0, left));
    if (text !== '') type(text);
    if (left >= 0) onLeave();
  };
  stdin.setRawMode?.(true);
  stdin.on('data', onKeys);
  stdin.on('end', onLeave);
  return {
    stop: () => {
      stdin.off('data', onKeys).off('end', onLeave).pause();
      stdin.setRawMode?.(false);
    },
  };
};

const followSize = (host: Host, terminal: Terminal): (() => void) => {
  const resize = (): void => terminal.resize(sizeOf(host));
  host.stdout.on('resize', resize);
  return () => void host.stdout.off('resize', resize);
};

export const shellCommand: Command = {
  name: 'shell',
  usage: `[--session <id> [--attach <process>]] ${newSandboxUsage} [command]`,
  summary: 'Open a terminal in a sandbox',
  details: [
    'Runs bash, or another command, on a terminal in the sandbox of the session; without --session in a new one.',
    'Ctrl-] leaves it running, and --attach returns to it. The exit code is that of the command.',
    networkDetail,
  ],
  options: { session: value, attach: value, ...newSandboxOptions },
  positionals: { min: 0, max: 1 },
  run,
};
