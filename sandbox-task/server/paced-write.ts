/**
 * The paced write: a piece of a response, finished when there is room for the next one.
 *
 * A caller that takes nothing for a minute is let go, so that it cannot hold a file or the queue for ever.
 */
import type { ServerResponse } from 'node:http';
import { Refusal } from './refusal.ts';

export const stallMsMax = 60_000;

export const writePaced = (response: ServerResponse, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    if (response.destroyed) return reject(gone());
    if (response.write(bytes)) return resolve();
    settleOn(response, 'drain', { resolve, reject });
  });

/** Ends the response; resolves when the system has the last byte. */
export const endPaced = (response: ServerResponse): Promise<void> =>
  new Promise((resolve, reject) => {
    if (response.destroyed) return reject(gone());
    settleOn(response, 'finish', { resolve, reject });
    response.end();
  });

type Settlement = { readonly resolve: () => void; readonly reject: (cause: Error) => void };

const settleOn = (response: ServerResponse, event: string, { resolve, reject }: Settlement): void => {
  const stall = setTimeout(() => response.destroy(), stallMsMax);
  const settle = (isTaken: boolean): void => {
    clearTimeout(stall);
    response.off(event, onEvent).off('close', onClose);
    if (isTaken) resolve();
    else reject(gone());
  };
  const onEvent = (): void => settle(true);
  const onClose = (): void => settle(false);
  response.on(event, onEvent).on('close', onClose);
};

const gone = (): Refusal => new Refusal('invalid_request', 'the caller has gone');
