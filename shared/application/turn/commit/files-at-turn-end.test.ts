/** The end of a turn that no function continues says which files are lost (L11). */
import { expect, test } from 'vitest';
import {
  inboxLimits,
  message,
  newSandbox,
  newSession,
  workspaceOf,
} from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import type { MessageId, TurnId } from '../../../domain/ids.ts';
import type { SandboxRecord } from '../../../domain/sandbox.ts';
import type { UnsavedFiles } from '../../../domain/turn/saved-files.ts';
import { failTurn } from '../requests/fail-turn.ts';

/** Of a turn that ran calls in the first sandbox: its completion says that files are lost, or its log that they are not saved. */
const saidOf = async (
  unsaved: UnsavedFiles | undefined,
  sandbox: Partial<SandboxRecord>,
): Promise<'lost' | 'unsaved' | 'nothing'> => {
  const { ports, clock } = openQuietPorts();
  const made = newSession({ createdAt: clock.now });
  const { generation = 1 } = sandbox;
  await ports.sessions.create(made, { workspace: { ...workspaceOf(made), firstGeneration: generation } });
  await ports.workspaces.claimStart(made.workspace, newSandbox({ ...sandbox, requestedAt: clock.now }));
  await ports.inbox.accept(made, message('m', clock.now), inboxLimits);
  const session = (await ports.sessions.get(made.id)) ?? made;
  await ports.turns.commit({
    ...{ session, version: 0, at: clock.now, log: [], history: [] },
    state: {
      ...{ kind: 'thinking', turnId: 't' as TurnId, messageId: 'm' as MessageId, step: 2, spentUsd: 0 },
      usage: { inputTokens: 0, outputTokens: 0 },
      policy: { mode: 'ask', grants: [] },
      ...(unsaved === undefined ? {} : { unsaved }),
    },
    ...{ historyNext: 0, historyFrom: 0, historyKept: 0 },
    ...{ release: true, wakes: false, dueAt: clock.now + 900_000 },
  });
  await failTurn(ports, made.id, { version: 1 });
  const { events } = await ports.eventLog.read(made.id, { since: -1, eventsMax: 10 });
  const completion = events.find(({ type }) => type === 'completion');
  if (completion?.type !== 'completion') throw new Error('the turn has not ended');
  if (completion.data.workspace?.lost === true) return 'lost';
  const said = events.find(({ type, data }) => type === 'system' && data.kind === 'workspace_not_saved');
  return said !== undefined && said.seq < completion.seq ? 'unsaved' : 'nothing';
};

const untried = { generation: 1, isUntried: true } as const;
const lost = 'out of memory';

test('they are lost when another session has started the next sandbox after one that ended by itself', async () => {
  expect(await saidOf(untried, { generation: 2, lost })).toBe('lost');
});

test('they are not saved while their sandbox runs on, and no save was tried since', async () => {
  expect(await saidOf(untried, { generation: 1 })).toBe('unsaved');
});

test('nothing is said when the sandbox was stopped in order, or the turn ran no call in one', async () => {
  expect(await saidOf(untried, { generation: 2 })).toBe('nothing');
  expect(await saidOf(undefined, { generation: 1 })).toBe('nothing');
  expect(await saidOf(undefined, { generation: 2, lost })).toBe('nothing');
});
