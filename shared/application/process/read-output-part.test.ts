/** A part of a process's output: where the next one begins, also for output that is no text. */
import { describe, expect, test } from 'vitest';
import type { Session } from '../../domain/session.ts';
import type { SandboxDeps } from '../deps.ts';
import { outputAction } from './process-actions.ts';
import { readOutputPart } from './read-output-part.ts';

const session = { workspace: 'w' } as Session;
const sandbox = { state: 'ready', generation: 1, address: 'http://sandbox', flavor: 'small' };

/** The sandbox's answer, in pieces of whole output. */
const partOf = (output: Buffer, charactersMax: number) => {
  const piece = { stream: 'stdout', offset: 0, bytes: output.length, text: output.toString() };
  const fetch = async () => new Response(`event: output\ndata: ${JSON.stringify(piece)}\n\n`);
  const ports = { workspaces: { get: async () => ({ id: 'w', sandbox }) }, link: { fetch } };
  const wanted = { id: 'p', offset: 0, charactersMax, waitSeconds: 0, signal: new AbortController().signal };
  return readOutputPart(ports as unknown as SandboxDeps, session, wanted);
};

test('the next part of text begins at the first character that was left out', async () => {
  const { text, nextOffset, hasMore } = await partOf(Buffer.from('жжжж'), 3);
  expect({ text, nextOffset, hasMore }).toEqual({ text: 'жжж', nextOffset: 6, hasMore: true });
});

test('no byte of output that is no UTF-8 is skipped', async () => {
  const { nextOffset, hasMore } = await partOf(Buffer.alloc(100, 0xff), 50);
  expect(hasMore).toBe(true);
  expect(nextOffset).toBeGreaterThan(0);
  expect(nextOffset).toBeLessThanOrEqual(50);
});

test('a part has whole characters, and at least one', async () => {
  for (const charactersMax of [1, 2, 3]) {
    let output = Buffer.from('a😀😀b');
    const parts: string[] = [];
    while (output.length > 0) {
      const { text, nextOffset } = await partOf(output, charactersMax);
      expect(nextOffset).toBeGreaterThan(0);
      expect(text.isWellFormed()).toBe(true);
      parts.push(text);
      output = output.subarray(nextOffset);
    }
    expect(parts.join('')).toBe('a😀😀b');
  }
});

describe('a process that ended', () => {
  const id = '00000000-0000-4000-8000-000000000001';
  const piece = { stream: 'stdout', offset: 0, bytes: 2, text: 'a\n' };
  const output = `event: output\ndata: ${JSON.stringify(piece)}\n\n`;
  const view = { processId: id, pid: 2, command: 'make', state: 'exited', exitCode: 1 };
  const further = { isPty: false, attached: 0, startedAt: 1000, endedAt: 2000 };
  const end = 'event: exit\ndata: {"exitCode":1}\n\n';

  test.each([
    { since: 'since its output was read has more of it', events: output, has_more: true },
    { since: 'before its output was read has no more of it', events: `${output}${end}`, has_more: false },
  ])('$since', async ({ events, has_more }) => {
    const fetch = async (_sandbox: unknown, { path }: { readonly path: string }) =>
      path.includes('/output') ? new Response(events) : Response.json({ ...view, ...further });
    const workspaces = { get: async () => ({ id: 'w', sandbox }) };
    const processes = { end: async () => true };
    const ports = { workspaces, link: { fetch }, processes, world: { now: () => 2000 } };
    const asked = { process_id: id, offset: 0, output_limit: 100, wait_seconds: 0 };
    const { signal } = new AbortController();
    const part = await outputAction(ports as unknown as SandboxDeps, session, { ...asked, signal });
    expect(part).toMatchObject({ state: 'exited', output: 'a\n', has_more });
  });

  test.each([
    ['of a sandbox that runs is whole', output + end, undefined],
    [
      'of a sandbox that has ended is said to be lost',
      'event: exit\ndata: {"exitCode":1,"outputLost":true}\n\n',
      true,
    ],
    ['that was lost with its sandbox says so', 'event: exit\ndata: {"exitCode":null,"lost":true}\n\n', true],
  ])('one %s', async (_, events, isLost) => {
    const fetch = async () => new Response(events);
    const ports = {
      ...{ workspaces: { get: async () => ({ id: 'w', sandbox }) }, link: { fetch } },
      ...{ processes: { end: async () => true }, world: { now: () => 2000 } },
    };
    const wanted = {
      id,
      offset: 0,
      charactersMax: 100,
      waitSeconds: 0,
      signal: new AbortController().signal,
    };
    const part = await readOutputPart(ports as unknown as SandboxDeps, session, wanted);
    expect({ isLast: part.isLast, isLost: part.isLost }).toEqual({ isLast: true, isLost });
  });
});
