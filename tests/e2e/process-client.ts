/** Processes over REST as a client sees them: started, and their output read as events. */
import type { EmbeddedCloud } from './embedded-cloud.ts';

export type Fields = Record<string, unknown>;
export type OutputEvent = { readonly event: string; readonly data: Fields };

export const openProcesses = (cloud: EmbeddedCloud, sessionId: () => string) => {
  const path = (rest: string): string => `/api/sessions/${sessionId()}${rest}`;
  const send = (method: string, rest: string, body?: object | string) =>
    cloud.request(path(rest), {
      method,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const ask = async (method: string, rest: string, body?: object | string) => {
    const response = await send(method, rest, body);
    const text = await response.text();
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Fields };
  };
  return {
    send,
    ask,
    /** With the output as events. */
    follow: (command: string) => {
      const headers = { accept: 'text/event-stream' };
      return cloud.request(path('/exec'), { method: 'POST', headers, body: JSON.stringify({ command }) });
    },
    exec: (command: string, fields: Fields = {}) => ask('POST', '/exec', { command, ...fields }),
    start: async (command: string, fields: Fields = {}): Promise<string> => {
      const { status, body } = await ask('POST', '/processes', { command, ...fields });
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
      return String(body['processId']);
    },
    show: async (id: string) => (await ask('GET', `/processes/${id}`)).body,
    output: async (id: string, query = '', isEnough?: Enough) =>
      readEvents(await send('GET', `/processes/${id}/output${query}`), isEnough),
  };
};

type Enough = (events: readonly OutputEvent[]) => boolean;

/** Events until the stream ends, or until they are enough. */
export const readEvents = async (
  response: Response,
  isEnough: Enough = () => false,
): Promise<readonly OutputEvent[]> => {
  const events: OutputEvent[] = [];
  let pending = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    pending += decoder.decode(chunk, { stream: true });
    const blocks = pending.split('\n\n');
    pending = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      if (event !== undefined && data !== undefined) events.push({ event, data: JSON.parse(data) as Fields });
    }
    if (isEnough(events)) return events;
  }
  return events;
};

export const textOf = (events: readonly OutputEvent[]): string =>
  events.map(({ event, data }) => (event === 'output' ? String(data['text']) : '')).join('');
