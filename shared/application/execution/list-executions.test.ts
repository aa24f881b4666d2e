/** AC2 in a list by owner: whoever owns sessions in several projects may have a scope of one. */
import { expect, test } from 'vitest';
import { newExecution, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { OwnerId, ProjectId } from '../../domain/ids.ts';
import { deploymentOwner, type Principal, projectPrincipal } from '../../domain/principal.ts';
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

test('a scope of the deployment sees those of all owners in a project once, a project its own', async () => {
  const { ports, clock, takeRequests } = openQuietPorts();
  const [made, another] = [crypto.randomUUID(), crypto.randomUUID()] as [ProjectId, ProjectId];
  for (const id of [made, another])
    await ports.projects.create({ id, owner: deploymentOwner, name: 'p', createdAt: 1 });
  for (const owner of [deploymentOwner, made as string as OwnerId, 'person-ada' as OwnerId]) {
    const session = newExecution({ owner, project: made, status: 'ready', createdAt: clock.now });
    await ports.sessions.create(session, { workspace: workspaceOf(session) });
  }
  const ownersSeen = async (principal: Principal) =>
    (await listExecutions(ports, principal)).map(({ owner }) => owner).toSorted();
  takeRequests();
  for (const scope of ['admin', 'admin:ro'] as const)
    expect(await ownersSeen({ owner: deploymentOwner, scope, tokenHash: 't' })).toEqual(
      ['deployment', made, 'person-ada'].toSorted(),
    );
  // Twice: the slots, the own list, the projects, a page of each of three, and the sessions of the one that has any.
  expect(takeRequests()).toHaveLength(2 * 7);
  expect(await ownersSeen(projectPrincipal(made))).toEqual([made]);
  expect(await ownersSeen(projectPrincipal(another))).toEqual([]);
});
