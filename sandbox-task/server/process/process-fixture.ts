/** Processes of a test sandbox: started, and their output read as events. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TestSandbox } from '../sandbox-fixture.ts';

export type OutputEvent = { readonly event: string; readonly data: Record<string, unknown> };

const jsonHeaders = { 'content-type': 'application/json' };

export const post = async (sandbox: TestSandbox, path: string, body: object) => {
  const answer = await sandbox.ask('POST', path, { headers: jsonHeaders, body: JSON.stringify(body) });
  const text = answer.body.toString();
  return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
};

export const start = async (sandbox: TestSandbox, command: string, fields: object = {}): Promise<string> => {
  const id = randomUUID();
  const { status, body } = await post(sandbox, '/processes', { id, command, ...fields });
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return id;
};

export const runToEnd = async (sandbox: TestSandbox, command: string, fields: object = {}) => {
  const { body } = await post(sandbox, '/processes', {
    ...{ id: randomUUID(), command, waitMs: 30_000 },
    ...fields,
  });
  return body;
};

export const show = async (sandbox: TestSandbox, id: string): Promise<Record<string, unknown>> =>
  JSON.parse((await sandbox.ask('GET', `/processes/${id}`)).body.toString());

/** Events until the stream ends, or until one that is enough. */
export const readEvents = async (
  answer: IncomingMessage,
  isEnough: (event: OutputEvent, all: readonly OutputEvent[]) => boolean = () => false,
): Promise<readonly OutputEvent[]> => {
  const events: OutputEvent[] = [];
  let pending = '';
  answer.setEncoding('utf8');
  for await (const chunk of answer) {
    pending += chunk;
    const blocks = pending.split('\n\n');
    pending = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      if (event === undefined || data === undefined) continue;
      const read = { event, data: JSON.parse(data) };
      events.push(read);
      if (isEnough(read, events)) return events;
    }
  }
  return events;
};

export const output = async (
  sandbox: TestSandbox,
  id: string,
  {
    query = '',
    isEnough,
  }: { readonly query?: string; readonly isEnough?: Parameters<typeof readEvents>[1] } = {},
) => readEvents(await sandbox.open('GET', `/processes/${id}/output${query}`), isEnough);

export const textOf = (events: readonly OutputEvent[], stream?: string): string =>
  events
    .filter(({ event, data }) => event === 'output' && (stream === undefined || data['stream'] === stream))
    .map(({ data }) => String(data['text']))
    .join('');
