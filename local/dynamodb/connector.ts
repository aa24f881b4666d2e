/**
 * The program inside dynoxide's network namespace: starts dynoxide, connects to it and passes the sockets to its parent.
 *
 * A socket stays in the namespace in which it was made, whichever process holds it. When dynoxide ends, this program
 * ends; when the parent has ended, it stops dynoxide and ends too.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A `connected` message carries the socket. */
export type ToConnector = { readonly type: 'connect' } | { readonly type: 'stop' };

export type FromConnector = { readonly type: 'connected' } | { readonly type: 'failed' };

/** No other program listens in this namespace. */
const port = 8000;
const triesMax = 2500;
const pauseMs = 4;

const [binary = '', database = ''] = process.argv.slice(2);
const host = '127.0.0.1';
const server: ChildProcess = spawn(binary, ['--host', host, '--port', String(port), '--db-path', database], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: {},
});
let isOver = false;
const end = (): void => {
  isOver = true;
  process.exit();
};
server.once('exit', end);
server.once('error', end);

const open = (): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    // Paused: before the parent owns it, this process would read and drop the first answer.
    const socket = connect({ port, host, noDelay: true }).pause();
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });

/** Retries, since dynoxide does not listen yet when it has just started. */
const openWithRetry = async (): Promise<Socket | undefined> => {
  for (let tries = 0; tries < triesMax && !isOver; tries += 1) {
    const socket = await open();
    if (socket !== undefined) return socket;
    await delay(pauseMs);
  }
  return undefined;
};

/** In sequence, so that the answers have the order of the requests. */
let last: Promise<void> = Promise.resolve();
const answer = async (): Promise<void> => {
  const socket = await openWithRetry();
  const message: FromConnector = { type: socket === undefined ? 'failed' : 'connected' };
  await new Promise<void>((resolve) => {
    process.send?.(message, socket, {}, () => resolve());
  });
};

process.on('message', (message: ToConnector) => {
  if (message.type === 'stop') server.kill('SIGTERM');
  else last = last.then(answer);
});
process.once('disconnect', () => server.kill('SIGTERM'));
