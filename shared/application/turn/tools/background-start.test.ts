/** The calls of an agent that start a process: which do, with which program, and once. */
import { describe, expect, test } from 'vitest';
import { fake } from '../../../../tests/fake.ts';
import type { OwnerId, ProjectId, SessionId, WorkspaceId } from '../../../domain/ids.ts';
import type { ProcessRecord } from '../../../domain/process.ts';
import type { Session } from '../../../domain/session.ts';
import type { ProcessStore } from '../../../ports/processes.ts';
import type { LinkRequest } from '../../../ports/sandbox.ts';
import type { WorkspaceStore } from '../../../ports/workspace-store.ts';
import type { World } from '../../../ports/world.ts';
import type { SandboxDeps } from '../../deps.ts';
import { programCall, startInBackground } from './background-start.ts';

describe('a call of a program', () => {
  test.each([undefined, false, null, ''])(
    'without a background (%j) goes into the sandbox without it',
    (background) => {
      const given = { command: 'ls', timeout: 9, ...(background === undefined ? {} : { background }) };
      expect(programCall('execute_command', given)).toEqual({
        kind: 'call',
        args: { command: 'ls', timeout: 9 },
      });
    },
  );

  test('of another tool keeps its arguments', () => {
    const args = { path: 'a', background: true };
    expect(programCall('write_file', args)).toEqual({ kind: 'call', args });
  });

  test('in the background becomes a program', () => {
    const call = { command: 'ls', background: true, timeout: null, args: [] };
    expect(programCall('execute_command', call)).toEqual({ kind: 'background', program: { command: 'ls' } });
    expect(programCall('execute_code', { code: '1', language: 'node', background: true })).toEqual({
      kind: 'background',
      program: { command: 'node', args: ['-e', '1'] },
    });
  });

  test.each([
    ['execute_command', { command: 'ls', background: 'yes' }, 'background'],
    ['execute_command', { background: true }, 'command'],
    ['execute_code', { code: '1', background: true }, 'language'],
    ['execute_command', { command: 'ls', background: true, shell: 'zsh' }, 'shell'],
  ])('%s with wrong arguments is refused by name: %j', (name, args, field) => {
    expect(() => programCall(name, args)).toThrow(field);
  });
});

const workspace = {
  ...{ id: 'w' as WorkspaceId, owner: 'o' as OwnerId, project: 'p' as ProjectId },
  ...{ createdAt: 0, users: [] },
};
const sandbox = { workspaceId: workspace.id, generation: 3, address: 'http://x', flavor: 'micro' } as const;
const session = { id: 's' as SessionId, project: workspace.project } as Session;

const open = (answer: () => Response, isReady = true) => {
  const put: ProcessRecord[] = [];
  const asked: LinkRequest[] = [];
  const removed: string[] = [];
  const ports = fake<SandboxDeps>({
    processes: fake<ProcessStore>({
      put: async (record) => void put.push(record),
      remove: async (_, id) => void removed.push(id),
    }),
    workspaces: fake<WorkspaceStore>({ recordProcesses: async () => isReady }),
    link: {
      fetch: async (_, request) => {
        asked.push(request);
        return answer();
      },
    },
    world: fake<World>({
      now: () => 5,
      sha256: (text) => Buffer.from(text).toString('hex').padEnd(64, '0').slice(-64),
    }),
  });
  const start = () =>
    startInBackground(ports, {
      ...{ session, key: 'tool:t:1:c', used: { sandbox, workspace }, program: { command: 'make' } },
    });
  return { start, put, asked, removed };
};

test('a start is recorded before it, and repeated under the same id', async () => {
  const { start, put, asked } = open(() => new Response('{}', { status: 201 }));
  const first = await start();
  await start();
  const ids = asked.map(({ body }) => JSON.parse(String(body)).id);
  expect(ids).toEqual([put[0]?.id, put[0]?.id]);
  expect(put[0]).toMatchObject({ generation: 3, session: 's', command: 'make' });
  expect(first).toMatchObject({ status: 'finished', content: [{ text: expect.stringContaining(ids[0]) }] });
});

test('a start that the sandbox refuses fails with its code, and is in no list', async () => {
  const error = { error: { code: 'resource_limit_exceeded', message: 'at most 64 processes run' } };
  const { start, put, removed } = open(() => Response.json(error, { status: 429 }));
  expect(await start()).toEqual({
    status: 'failed',
    code: 'resource_limit_exceeded',
    message: 'at most 64 processes run',
  });
  expect(removed).toEqual([put[0]?.id]);
});

test('L5: none begins in a sandbox that stopped since it was found ready: the call was not sent', async () => {
  const { start, put, asked } = open(() => new Response('{}', { status: 201 }), false);
  expect(await start()).toMatchObject({ status: 'lost', isUnsent: true });
  expect([put, asked]).toEqual([[], []]);
});
