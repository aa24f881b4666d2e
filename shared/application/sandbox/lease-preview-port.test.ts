/** A preview port is leased over what was read on the way to its sandbox; who lost the race for one reads again. */
import { expect, test } from 'vitest';
import { newSandbox, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { leasePreviewPort } from './lease-preview-port.ts';

const open = async () => {
  const quiet = openQuietPorts();
  const { workspaces } = quiet.ports;
  const workspace = workspaceOf(newSession());
  const { id } = workspace;
  await workspaces.create(workspace);
  await workspaces.claimStart(id, newSandbox());
  await workspaces.markReady(id, 1, { at: 6000 });
  const read = async () => {
    const sandbox = {
      workspaceId: id,
      generation: 1,
      address: 'http://10.0.0.7:8080',
      flavor: 'micro',
    } as const;
    return { sandbox, workspace: (await workspaces.get(id)) ?? workspace };
  };
  return { ...quiet, read };
};

test('one request leases it, and none leases it again', async () => {
  const { ports, read, takeRequests } = await open();
  const first = await read();
  takeRequests();
  expect(await leasePreviewPort(ports, first)).toBe(8000);
  expect(takeRequests()).toEqual(['Update']);
  const again = await read();
  takeRequests();
  expect(await leasePreviewPort(ports, again, 8000)).toBe(8000);
  expect(takeRequests()).toEqual([]);
});

test('of two concurrent readers one reads again and gets the next', async () => {
  const { ports, read } = await open();
  const seen = await read();
  const leased = [await leasePreviewPort(ports, seen), await leasePreviewPort(ports, seen)];
  expect(leased).toEqual([8000, 8001]);
  expect(await leasePreviewPort(ports, seen, 8001)).toBe(8001);
});
