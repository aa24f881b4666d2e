/** AC2 in a list by owner: whoever owns sessions in several projects may have a scope of one. */
import { expect, test } from 'vitest';
import { newExecution, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { OwnerId, ProjectId } from '../../domain/ids.ts';
import { listExecutions } from './list-executions.ts';

test('a person, or their client, with the scope of one project sees none of their executions in another', async () => {
  const { ports, clock } = openQuietPorts();
  const owner = 'person-ada' as OwnerId;
  const [one, other] = [crypto.randomUUID(), crypto.randomUUID()] as [ProjectId, ProjectId];
  for (const project of [one, other]) {
    const session = newExecution({ owner, project, status: 'ready', createdAt: clock.now });
    await ports.sessions.create(session, { workspace: workspaceOf(session) });
  }
  const ada = { owner, tokenHash: 'ada', isPerson: true } as const;
  const projects = async (scope: 'admin' | `project:${string}`) =>
    (await listExecutions(ports, { ...ada, scope })).map(({ project }) => project).toSorted();
  expect(await projects(`project:${one}`)).toEqual([one]);
  expect(await projects('admin')).toEqual([one, other].toSorted());
});
