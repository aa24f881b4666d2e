/** The tool `process` of an agent: its results as a model reads them, and the actions that are not repeated. */
import { expect, test } from 'vitest';
import { fake } from '../../../../tests/fake.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Session } from '../../../domain/session.ts';
import type { ProcessStore } from '../../../ports/processes.ts';
import type { LinkRequest } from '../../../ports/sandbox.ts';
import type { WorkspaceStore } from '../../../ports/workspace-store.ts';
import type { World } from '../../../ports/world.ts';
import type { SandboxDeps } from '../../deps.ts';
import { runProcessTool } from './process-tool.ts';

const process_id = '3f0e0a5c-8f6e-4d8a-9b8e-0d6a5a7e1c11';
const running = {
  ...{ processId: process_id, command: 'make', state: 'running', exitCode: null, isPty: false },
  ...{ pid: 1, attached: 0, startedAt: 0 },
};

const answers: Readonly<Record<string, () => Response>> = {
  '/processes': () => Response.json({ processes: [running] }),
  [`/processes/${process_id}`]: () => Response.json(running),
  output: () => new Response('event: output\ndata: {"stream":"stdout","offset":2,"bytes":2,"text":"hi"}\n\n'),
};

const open = () => {
  const asked: LinkRequest[] = [];
  const ready = { state: 'ready', address: 'http://x', generation: 1, flavor: 'micro' };
  const ports = fake<SandboxDeps>({
    processes: fake<ProcessStore>({
      list: async () => [],
      get: async () => undefined,
      end: async () => undefined,
    }),
    workspaces: fake<WorkspaceStore>({ get: async () => ({ id: 'w', sandbox: ready }) as never }),
    link: {
      fetch: async (_, request) => {
        const isEnded = asked.some(({ method }) => method === 'DELETE');
        asked.push(request);
        const { path } = request;
        if (isEnded) return Response.json({ ...running, state: 'exited', exitCode: 143, endedAt: 4 });
        return (answers[path.includes('/output?') ? 'output' : path] ?? (() => new Response(null)))();
      },
    },
    world: fake<World>({ now: () => 5 }),
  });
  const run = (args: JsonObject, generation?: number) =>
    runProcessTool(ports, {
      session: { id: 's', workspace: 'w' } as Session,
      effect: { args, ...(generation === undefined ? {} : { generation }) },
      signal: new AbortController().signal,
    });
  return { run, asked };
};

const text = (said: string) => ({ status: 'finished', content: [{ type: 'text', text: said }] });

test('processes are listed, and the output of one is read with what continues it', async () => {
  const { run } = open();
  expect(await run({ action: 'list' })).toEqual(text(`${process_id} running: make`));
  expect(await run({ action: 'output', process_id, offset: 2 })).toEqual(
    text('hi\n[running; next_offset 4]'),
  );
});

test('input is written once: after a lost function its outcome is unknown', async () => {
  const { run, asked } = open();
  expect(await run({ action: 'input', process_id, text: 'y\n', eof: true })).toEqual(
    text('the input was written and closed'),
  );
  expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `POST /processes/${process_id}/stdin?eof=1`,
  ]);
  for (const args of [
    { action: 'input', process_id, text: 'y' },
    { action: 'signal', process_id, signal: 'SIGINT' },
  ])
    expect(await run(args, 0)).toMatchObject({ status: 'failed', code: 'tool_outcome_unknown' });
  expect(asked).toHaveLength(1);
  expect(await run({ action: 'kill', process_id }, 0)).toEqual(
    text('the process and its children have ended'),
  );
});

test.each([
  [{ action: 'stop' }, 'invalid_request'],
  [{ action: 'kill', process_id: 'p' }, 'not_found'],
])('%j is refused', async (args, code) => {
  const { run, asked } = open();
  expect(await run(args)).toMatchObject({ status: 'failed', code });
  expect(asked).toEqual([]);
});
