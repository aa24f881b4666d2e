/** Files of a turn whose sandbox was lost under another function: the model and the completion hear of them. */
import { expect, test } from 'vitest';
import {
  message,
  newSandbox,
  newSession,
  workspaceOf,
} from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { MessageId, TurnId } from '../../../domain/ids.ts';
import { clocksApartMsMax } from '../../../domain/limits.ts';
import type { TurnState } from '../../../domain/turn/turn.ts';
import { checkpointTurn } from './checkpoint-turn.ts';

const state: TurnState = {
  ...{ kind: 'thinking', turnId: 't' as TurnId, messageId: 'm' as MessageId, step: 2, spentUsd: 0 },
  usage: { inputTokens: 0, outputTokens: 0 },
  policy: { mode: 'ask', grants: [] },
};
const turn = { version: 3, state, historyNext: 0, historyFrom: 0, historyKept: 0 };
const checkpoint = {
  ...{ id: 'k', sha256: 's', generation: 1, files: 1, bytes: 1, packs: ['p'] },
};
const acceptedAt = 1_000_000;
const steppedAt = acceptedAt + 5000;

/** A turn that a second function took up, after the sandbox of its calls ended by itself. */
const open = async ({ savedAt, stoppedAt }: { readonly savedAt?: number; readonly stoppedAt: number }) => {
  const { ports } = openQuietPorts();
  const session = newSession({ createdAt: 1, lastActiveAt: steppedAt });
  const { workspace } = session;
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await ports.workspaces.claimStart(workspace, newSandbox({ requestedAt: 1 }));
  await ports.workspaces.markReady(workspace, 1, { at: 2 });
  if (savedAt !== undefined)
    await ports.workspaces.recordCheckpoint(workspace, { ...checkpoint, savedAt }, {});
  await ports.workspaces.markStopped(workspace, 1, { reason: 'exit code 137', at: stoppedAt });
  return checkpointTurn(ports, { session, turn, inbox: [message('m', acceptedAt)] });
};

test('files that were not saved before the sandbox was lost are lost', async () => {
  expect(await open({ savedAt: steppedAt - 1, stoppedAt: steppedAt + 1 })).toEqual({
    log: [],
    files: {
      savedAt: new Date(steppedAt - 1).toISOString(),
      lost: 'its sandbox was lost: exit code 137',
      generation: 1,
    },
  });
  expect(await open({ stoppedAt: steppedAt + 1 })).toMatchObject({ files: { lost: expect.any(String) } });
});

test('files that were saved after the last step are not, by whichever clock', async () => {
  const stoppedAt = steppedAt + clocksApartMsMax + 1;
  expect(await open({ savedAt: stoppedAt - 1, stoppedAt })).toEqual({ log: [], files: { generation: 1 } });
  expect(await open({ savedAt: stoppedAt - 2, stoppedAt })).toMatchObject({
    files: { lost: expect.any(String) },
  });
});

test('a checkpoint has the time at which its save began', async () => {
  const { ports, clock } = openQuietPorts();
  const session = newSession({ createdAt: 1 });
  const workspace = { ...workspaceOf(session), sandbox: newSandbox({ requestedAt: 1 }) };
  const beganAt = clock.now;
  const archive = {
    ...ports.archive,
    save: async () => {
      clock.now += 5000;
      const manifest = { id: 'k', sha256: 's' };
      return { status: 'saved' as const, manifest, files: 1, bytes: 1, packs: ['k'], leftOut: [], logs: [] };
    },
  };
  const sandbox = { workspaceId: workspace.id, generation: 1, address: 'http://s', flavor: 'micro' } as const;
  const { files, taken } = await checkpointTurn(
    { ...ports, archive },
    { session, turn, inbox: [], used: { workspace, sandbox } },
  );
  expect(taken?.note.checkpoint.savedAt).toBe(beganAt);
  expect(files?.savedAt).toBe(new Date(beganAt).toISOString());
});

test('nor are those of a sandbox that was lost before the turn', async () => {
  expect(await open({ stoppedAt: acceptedAt - 1 })).toEqual({ log: [], files: { generation: 1 } });
});

test('files of a sandbox that is being stopped are known after its last save alone', async () => {
  const { ports, clock, invoked } = openQuietPorts();
  const session = newSession({ createdAt: 1, lastActiveAt: steppedAt });
  const { workspace } = session;
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  await ports.workspaces.claimStart(workspace, newSandbox({ requestedAt: 1 }));
  await ports.workspaces.markReady(workspace, 1, { at: 2 });
  await ports.workspaces.markStopping(workspace, 1, { reason: 'Spot interruption', at: 3, dueAt: 3 });
  let looks = 0;
  const world = {
    ...ports.world,
    sleep: async (milliseconds: number) => {
      clock.now += milliseconds;
      looks += 1;
      if (looks < 40) return;
      await ports.workspaces.recordStopRequest(workspace, 1, { at: clock.now, isUnsaved: true });
    },
  };
  const { files } = await checkpointTurn(
    { ...ports, world },
    { session, turn, inbox: [message('m', acceptedAt)] },
  );
  expect(files).toMatchObject({ lost: 'its sandbox was lost: its last save failed' });
  expect(invoked).toEqual([`stop ${workspace}`, `stop ${workspace}`]);
});
