/** The end of a process as its record keeps it: how it ended is known after its sandbox is gone, and a lost one stays lost. */
import { expect, test } from 'vitest';
import { newExecution, newSandbox, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { AppError } from '../../errors.ts';
import { recordLastEnds } from '../sandbox/kept-by-processes.ts';
import { openSlice } from './follow-output.ts';
import { listProcesses, showProcess } from './list-processes.ts';
import { endProcess } from './use-process.ts';

const id = '6b0f2a8e-7a3c-4c55-9f0e-2d1a6f7b8c90';
const process = {
  ...{ processId: id, command: 'exit 7', pid: 7, startedAt: 1000, isPty: false, attached: 0 },
};
const exited = { ...process, state: 'exited', exitCode: 7, endedAt: 2000 };
const lost = { ...process, state: 'lost', exitCode: null, endedAt: 2000 };

const notFound = () => Response.json({ error: { code: 'not_found', message: 'no' } }, { status: 404 });

/** A sandbox with one process, of which it says this; undefined: it no longer answers once the process was ended. */
const open = async (known: (() => Response) | undefined) => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const session = newExecution({ status: 'ready', createdAt: clock.now, lastActiveAt: clock.now });
  const { workspace } = session;
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  const sandbox = { ...newSandbox({ state: 'ready', hasProcesses: true }), address: 'http://10.42.0.9:8080' };
  await ports.processes.put({
    ...{ id, workspace, generation: 1, session: session.id },
    ...{ command: process.command, isPty: false, startedAt: process.startedAt },
  });
  const asked: string[] = [];
  const link = {
    fetch: async (_: object, { method, path }: { readonly method: string; readonly path: string }) => {
      asked.push(`${method} ${path}`);
      if (method === 'DELETE') return new Response(null, { status: 204 });
      if (known === undefined) throw new AppError('sandbox_unavailable', 'the sandbox does not answer');
      return known();
    },
  };
  const workspaces = { ...ports.workspaces, get: async () => ({ ...workspaceOf(session), sandbox }) };
  const { host: _, ...others } = ports;
  const live = { ...others, link, workspaces } as unknown as typeof ports;
  return { live, later: ports, session, asked, sandbox };
};

test('a process that is ended keeps the exit code that it had before, also without its sandbox', async () => {
  const { live, later, session, asked } = await open(() => Response.json(exited));
  const view = { state: 'exited', exitCode: 7, endedAt: '1970-01-01T00:00:02.000Z' };
  expect(await endProcess(live, session, id)).toMatchObject(view);
  expect(asked).toEqual([`DELETE /processes/${id}`, `GET /processes/${id}`]);
  expect(await showProcess(later, session, id)).toMatchObject(view);
});

test.each([
  ['knows it no more', notFound],
  ['does not answer', undefined],
])('a process that was ended is no lost one when its sandbox %s', async (_, known) => {
  const { live, later, session } = await open(known);
  expect(await endProcess(live, session, id)).toMatchObject({ state: 'exited', endedAt: expect.any(String) });
  expect(await showProcess(later, session, id)).toMatchObject({ state: 'exited' });
});

test.each(['is shown', 'is listed', 'is ended', 'ends with the sandbox'])(
  'a process that was lost with its runner and %s stays lost',
  async (what) => {
    const { live, later, session, sandbox } = await open(() =>
      Response.json(what === 'is shown' || what === 'is ended' ? lost : { processes: [lost] }),
    );
    const acts: Readonly<Record<string, () => Promise<unknown>>> = {
      'is shown': () => showProcess(live, session, id),
      'is listed': () => listProcesses(live, session),
      'is ended': () => endProcess(live, session, id),
      'ends with the sandbox': () => recordLastEnds(live, { id: session.workspace, sandbox }),
    };
    await acts[what]?.();
    expect(await listProcesses(later, session)).toMatchObject([{ processId: id, state: 'lost' }]);
    const output = await openSlice(later, session, {
      ...{ id, offset: 0, isFollowing: false, isAttached: false, isFirst: false },
    });
    expect(await new Response(output).text()).toBe('event: exit\ndata: {"exitCode":null,"lost":true}\n\n');
  },
);
