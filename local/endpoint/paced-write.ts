/**
 * A piece of a response, finished when there is room for the next one.
 *
 * A caller that went away stops nobody: what is still written for it is dropped.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

export const writePaced = async (response: ServerResponse, bytes: Uint8Array): Promise<void> => {
  if (response.destroyed || bytes.length === 0 || response.write(bytes)) return;
  const settled = new AbortController();
  const events = ['drain', 'close'].map((event) => once(response, event, { signal: settled.signal }));
  await Promise.race(events).finally(() => settled.abort());
};
