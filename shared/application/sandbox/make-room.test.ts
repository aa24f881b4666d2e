/** Room for a slot where sandboxes have processes: one that they keep never gives way, and the next idle one does. */
import { expect, test } from 'vitest';
import { newExecution, newSandbox, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { OwnerId } from '../../domain/ids.ts';
import { slotHolderOf } from '../../domain/slot-holder.ts';
import type { SandboxLink } from '../../ports/sandbox.ts';
import { makeRoom } from './make-room.ts';

/** Two sessions of one owner with a ready sandbox each. The first is idle for longer, and had a process. */
const open = async () => {
  const quiet = openQuietPorts();
  const { ports, clock } = quiet;
  const owner = crypto.randomUUID() as OwnerId;
  const started = async () => {
    const session = newExecution({ owner, status: 'ready', createdAt: clock.now, lastActiveAt: clock.now });
    const { id, workspace } = session;
    const holder = slotHolderOf(session);
    await ports.sessions.create(session, { workspace: workspaceOf(session) });
    const sandbox = newSandbox({ requestedAt: clock.now, slot: { holder, session: id } });
    await ports.workspaces.claimStart(workspace, sandbox, { known: {}, slotsMax: 2 });
    await ports.workspaces.recordAddress(workspace, 1, { taskArn: 'task', address: 'http://10.42.0.9:8080' });
    await ports.workspaces.markReady(workspace, 1, { at: clock.now });
    clock.now += 1000;
    return session;
  };
  const [first, second] = [await started(), await started()];
  await ports.workspaces.recordProcesses(first.workspace, 1);
  const request = { holder: slotHolderOf(first) };
  const stopping = async () => {
    const found = await ports.workspaces.getMany([first.workspace, second.workspace]);
    return found.filter(({ sandbox }) => sandbox?.state === 'stopping').map(({ id }) => id);
  };
  return { ...quiet, first, second, request, stopping };
};

const one = {
  ...{ processId: crypto.randomUUID(), command: 'sleep 60', state: 'running', pid: 7, startedAt: 1 },
  ...{ isPty: false, attached: 0 },
};
const answering = (processes: readonly object[]): SandboxLink => ({
  fetch: async () => Response.json({ processes }),
});

test.each<[string, SandboxLink, 'first' | 'second']>([
  ['with a process that runs stays', answering([one]), 'second'],
  ['with a process that has ended gives way', answering([{ ...one, state: 'exited', endedAt: 2 }]), 'first'],
  ['with an attached terminal stays', answering([{ ...one, isPty: true, attached: 1 }]), 'second'],
  ['with a terminal that nobody looks at gives way', answering([{ ...one, isPty: true }]), 'first'],
  ['that does not answer stays', { fetch: () => Promise.reject(new Error('silent')) }, 'second'],
])('a sandbox %s', async (_what, link, given) => {
  const { ports, request, stopping, ...sessions } = await open();
  expect(await makeRoom({ ...ports, link }, request)).toBe(true);
  expect(await stopping()).toEqual([sessions[given].workspace]);
});

test('a sandbox that its caller cannot ask stays while a record has no end', async () => {
  const { ports, request, stopping, first, second, clock } = await open();
  const { link: _link, ...others } = ports;
  const { workspace, id: session } = first;
  const record = { workspace, session, generation: 1, command: 'sleep 60', isPty: false, startedAt: 1 };
  await ports.processes.put({ id: 'a', ...record });
  expect(await makeRoom(others, request)).toBe(true);
  expect(await stopping()).toEqual([second.workspace]);
  expect(await makeRoom(others, request)).toBe(false);
  await ports.processes.end(workspace, 'a', { at: clock.now });
  expect(await makeRoom(others, request)).toBe(true);
  expect(await stopping()).toEqual([first.workspace, second.workspace]);
});
