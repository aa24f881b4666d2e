/** What becomes of one call: its result, whole or cut with a file beside it, or why there is none. */
import { describe, expect, test } from 'vitest';
import type { ToolContent } from '../domain/event-log.ts';
import type { CallId, WorkspaceId } from '../domain/ids.ts';
import { utf8Bytes } from '../domain/text.ts';
import type { LinkRequest } from '../ports/sandbox-link.ts';
import type { SandboxCall, ToolOutcome } from '../ports/sandbox-tools.ts';
import { type OneCall, type RunCallPorts, runCall, unknownOutcome } from './run-call.ts';

const sandbox = {
  workspaceId: 'w' as WorkspaceId,
  generation: 7,
  address: 'http://127.0.0.1:1',
  flavor: 'micro',
} as const;

type World = {
  readonly outcome: () => ToolOutcome;
  readonly put?: () => Promise<Response>;
};

const open = ({ outcome, put = () => Promise.resolve(new Response(null, { status: 201 })) }: World) => {
  const asked: SandboxCall[] = [];
  const puts: LinkRequest[] = [];
  const counted: string[] = [];
  const warned: string[] = [];
  let now = 1000;
  const ports: RunCallPorts = {
    tools: {
      call: (call) => {
        asked.push(call);
        now += 25;
        return Promise.resolve(outcome());
      },
    },
    workspaces: { get: () => Promise.resolve(undefined) },
    link: {
      fetch: (_sandbox, request) => {
        puts.push(request);
        return put();
      },
    },
    telemetry: {
      info: () => undefined,
      warn: (message) => warned.push(message),
      error: () => undefined,
      count: (name) => counted.push(name),
      duration: () => undefined,
    },
    world: { now: () => now, uuid: () => '', sha256: () => '', sleep: () => Promise.resolve() },
  };
  return { ports, asked, puts, counted, warned };
};

const callOf = (effect: Partial<OneCall['effect']> = {}): OneCall => ({
  effect: {
    type: 'run-tool',
    key: 'tool:turn:1:call/1',
    callId: 'c1' as CallId,
    name: 'execute_command',
    args: { command: 'ls' },
    ...effect,
  },
  sandbox,
  correlationId: 'x',
  onProgress: () => undefined,
  signal: new AbortController().signal,
});

const text = (...texts: readonly string[]): ToolOutcome => ({
  status: 'finished',
  content: texts.map((one) => ({ type: 'text', text: one })),
});
const said = (content: readonly ToolContent[]): readonly unknown[] => content.map((block) => block['text']);

describe('a call', () => {
  test('is asked for under its key, and its result is given whole', async () => {
    const { ports, asked, puts, counted } = open({ outcome: () => text('one', 'two') });
    expect(await runCall(ports, callOf())).toEqual({
      type: 'call-finished',
      at: 1025,
      callId: 'c1',
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
      text: 'one\ntwo',
      durationMs: 25,
    });
    expect(asked).toMatchObject([{ sandbox, callKey: 'tool:turn:1:call/1', name: 'execute_command' }]);
    expect([puts, counted]).toEqual([[], ['ToolCalls']]);
  });

  test('that the tool refused says so', async () => {
    const { ports, counted } = open({
      outcome: () => ({ status: 'failed', code: 'execution_timeout', message: 'too long' }),
    });
    expect(await runCall(ports, callOf())).toEqual({
      type: 'call-failed',
      at: 1025,
      callId: 'c1',
      code: 'execution_timeout',
      message: 'too long',
    });
    expect(counted).toEqual(['ToolCalls', 'ToolCallsFailed']);
  });

  test('of a tool that there is not is not sent', async () => {
    const { ports, asked } = open({ outcome: () => text('') });
    expect(await runCall(ports, callOf({ name: 'fly' }))).toMatchObject({
      code: 'invalid_request',
      message: 'there is no tool fly',
    });
    expect(asked).toEqual([]);
  });

  test('that started in another sandbox is never run again', async () => {
    const { ports, asked } = open({ outcome: () => text('') });
    expect(await runCall(ports, callOf({ generation: 6 }))).toMatchObject({ code: unknownOutcome[0] });
    expect(asked).toEqual([]);
    const same = open({ outcome: () => text('first result') });
    expect(await runCall(same.ports, callOf({ generation: 7 }))).toMatchObject({ text: 'first result' });
  });

  test('whose sandbox is gone has an unknown outcome', async () => {
    const { ports } = open({ outcome: () => ({ status: 'lost', message: 'no route' }) });
    expect(await runCall(ports, callOf())).toMatchObject({ type: 'call-failed', code: unknownOutcome[0] });
  });
});

describe('a long result', () => {
  const long = `${'a'.repeat(60_000)}END`;
  const path = '.sallyport/outputs/tool-turn-1-call-1.txt';

  test('is cut for the model, who is told where the whole is', async () => {
    const { ports, puts } = open({ outcome: () => text(long) });
    const ended = await runCall(ports, callOf());
    if (ended.type !== 'call-finished') throw new Error(ended.message);
    expect(ended.text.length).toBeLessThan(50_200);
    expect(ended.text).toContain('characters left out');
    expect(ended.text.slice(-150)).toMatch(/END\n\[The result was too long and is cut here; the whole is in/);
    expect(ended.text).toContain(`/workspace/${path}.]`);
    expect(ended.content).toEqual([{ type: 'text', text: long }]);
    expect(puts.map(({ method, path: where }) => [method, where])).toEqual([['PUT', `/files/${path}`]]);
    expect(new TextDecoder().decode(puts[0]?.body as Uint8Array)).toBe(long);
  });

  test('as long as the model reads stays as it is', async () => {
    const { ports, puts } = open({ outcome: () => text('a'.repeat(50_000)) });
    expect(await runCall(ports, callOf())).toMatchObject({ text: 'a'.repeat(50_000) });
    expect(puts).toEqual([]);
  });

  test('over four million bytes is kept as far as a file may be long', async () => {
    const { ports, puts } = open({ outcome: () => text('é'.repeat(3_000_000)) });
    await runCall(ports, callOf());
    expect(puts[0]?.body).toHaveLength(4 * 1_048_576);
  });

  test.each([
    ['letters', 'a'.repeat(300_000)],
    ['letters of three bytes', '€'.repeat(90_000)],
    ['pairs', '\u{1f600}'.repeat(60_000)],
    ['characters that JSON writes in six bytes', '\u0001'.repeat(90_000)],
  ])('of %s is bounded in the log in bytes, with a note', async (_what, heavy) => {
    const { ports } = open({ outcome: () => text(heavy) });
    const ended = await runCall(ports, callOf());
    if (ended.type !== 'call-finished') throw new Error(ended.message);
    const bytes = utf8Bytes(JSON.stringify(ended.content));
    expect(bytes).toBeLessThan(110 * 1024);
    expect(bytes).toBeGreaterThan(40 * 1024);
    expect(ended.content[0]).toMatchObject({ type: 'text', truncated: true });
    expect(said(ended.content).at(-1)).toBe(
      `[The result was too long and is cut here; the whole is in /workspace/${path}.]`,
    );
    expect(utf8Bytes(JSON.stringify(ended.text))).toBeLessThan(380 * 1024);
  });

  test('in many blocks shares what room there is, and a picture that does not fit is named', async () => {
    const image = { type: 'image', data: 'i'.repeat(300_000), mimeType: 'image/png' };
    const small = { type: 'image', data: 'i', mimeType: 'image/png' };
    const { ports } = open({
      outcome: () => ({ status: 'finished', content: [{ type: 'text', text: 'hello' }, image, small] }),
    });
    const ended = await runCall(ports, callOf());
    if (ended.type !== 'call-finished') throw new Error(ended.message);
    expect(ended.content.slice(0, 3)).toEqual([
      { type: 'text', text: 'hello', truncated: true },
      { type: 'text', text: '[image: too large to show]' },
      small,
    ]);
    expect(ended.text).toMatch(/^hello\n\[image\]\n\[image\]\n/);
    const crowd = open({ outcome: () => text(...Array.from({ length: 50_000 }, () => 'x')) });
    const cut = await runCall(crowd.ports, callOf());
    if (cut.type !== 'call-finished') throw new Error(cut.message);
    expect(cut.content).toHaveLength(101);
  });

  test.each([
    ['refused', () => Promise.resolve(new Response('full', { status: 507 })), []],
    ['not reached', () => Promise.reject(new Error('no route')), ['a long result was not kept']],
  ])('whose file was %s is cut all the same, and that is said', async (_what, put, warnings) => {
    const { ports, warned } = open({ outcome: () => text(long), put });
    const ended = await runCall(ports, callOf());
    expect(ended.type === 'call-finished' && ended.text.slice(-72)).toBe(
      '[The result was too long and is cut here; the whole could not be kept.]'.padStart(72, '\n'),
    );
    expect(warned).toEqual(warnings);
  });
});
