/** Output that is followed over several slices, as its reader sees it. */
import { expect, test } from 'vitest';
import type { Session } from '../../domain/session.ts';
import type { SandboxDeps } from '../deps.ts';
import { followOutput } from './follow-output.ts';

const session = { workspace: 'w' } as Session;
const sandbox = { state: 'ready', generation: 1, address: 'http://sandbox', flavor: 'small' };

const open = (slices: readonly (string | readonly string[])[], record: object = { endedAt: undefined }) => {
  const asked: string[] = [];
  const ended: object[] = [];
  const left = [...slices];
  const ports = {
    workspaces: { get: async () => ({ id: 'w', sandbox }) },
    processes: {
      get: async () => ({ id: 'p', ...record }),
      end: async (workspace: string, id: string, end: object) => void ended.push({ workspace, id, ...end }),
    },
    world: { now: () => 7 },
    link: {
      fetch: async (_live: object, { path }: { readonly path: string }) => {
        asked.push(path);
        const slice = left.shift();
        if (slice === undefined)
          return Response.json({ error: { code: 'not_found', message: '' } }, { status: 404 });
        return new Response(
          ReadableStream.from([slice].flat().map((text) => new TextEncoder().encode(text))),
        );
      },
    },
  };
  return { ports: ports as unknown as SandboxDeps, asked, ended };
};
const request = { id: 'p', offset: 5, isFollowing: true, isAttached: true };
const textOf = async (body: ReadableStream<Uint8Array>) => new Response(body).text();
const offsets = (asked: readonly string[]) =>
  asked.map((path) => /offset=(\d+).*start=(\d)/.exec(path)?.slice(1));

test('each slice begins where the one before it ended, also when the mark comes in pieces', async () => {
  const { ports, asked } = open([['one', '\n\n:ne', 'xt 12\n\n'], [':next 12\n\n'], 'two']);
  expect(await textOf(await followOutput(ports, session, request))).toBe(
    'one\n\n:next 12\n\n:next 12\n\ntwo',
  );
  expect(offsets(asked)).toEqual([
    ['5', '1'],
    ['12', '0'],
    ['12', '0'],
  ]);
});

test('a process that is lost between two slices ends with that', async () => {
  const { ports } = open([':next 9\n\n']);
  expect(await textOf(await followOutput(ports, session, request))).toBe(
    ':next 9\n\nevent: exit\ndata: {"exitCode":null,"lost":true}\n\n',
  );
});

test.each([3, 0])(
  'the output of a process that ended with %i before its sandbox is said to be lost',
  async (exitCode) => {
    const { ports } = open([], { endedAt: 1, exitCode });
    expect(await textOf(await followOutput(ports, session, request))).toBe(
      `event: start\ndata: {"processId":"p"}\n\nevent: exit\ndata: {"exitCode":${exitCode},"outputLost":true}\n\n`,
    );
  },
);

test('a reader that leaves asks for no further slice', async () => {
  const { ports, asked } = open(['one', 'two']);
  const body = await followOutput(ports, session, request);
  await body.cancel();
  expect(asked).toHaveLength(1);
});

const exit = (data: object) => `event: exit\ndata: ${JSON.stringify(data)}\n\n`;
const output = (text: string) =>
  `event: output\ndata: ${JSON.stringify({ stream: 'stdout', offset: 0, bytes: text.length, text })}\n\n`;

test('an end that comes in pieces is recorded before its reader learns of it', async () => {
  const [head, tail] = [exit({ exitCode: 3 }).slice(0, 9), exit({ exitCode: 3 }).slice(9)];
  const { ports, ended } = open([[output('x'), head, tail]]);
  const reader = (await followOutput(ports, session, request)).getReader();
  let shown = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    shown += new TextDecoder().decode(value);
    if (shown.endsWith(tail)) expect(ended).toEqual([{ workspace: 'w', id: 'p', at: 7, exitCode: 3 }]);
    else expect(ended).toEqual([]);
  }
  expect(shown).toBe(output('x') + exit({ exitCode: 3 }));
});

test.each([
  ['of a lost process', exit({ exitCode: null, lost: true }), []],
  ['that a program printed', output(`\n\n${exit({ exitCode: 0 })}`), []],
  ['by a signal', exit({ exitCode: null, signal: 'SIGTERM' }), [{ workspace: 'w', id: 'p', at: 7 }]],
])('the end %s is recorded for what it is', async (_, text, expected) => {
  const { ports, ended } = open([text]);
  await textOf(await followOutput(ports, session, request));
  expect(ended).toEqual(expected);
});
