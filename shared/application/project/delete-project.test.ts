/** The deletion of a project beside sessions that are made and repeats of it. */
import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { OwnerId, ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ProjectDeps } from '../deps.ts';
import { deleteProject } from './delete-project.ts';

const principal: Principal = { owner: 'deployment' as OwnerId, scope: 'admin', tokenHash: 't' };

const open = async () => {
  const { ports, hooks, clock } = openQuietPorts();
  const emptied: string[] = [];
  const deps = {
    ...ports,
    auditLog: { append: async () => undefined },
    forgetter: { forgetProject: async (project: string) => void emptied.push(project) },
  } as unknown as ProjectDeps;
  const id = crypto.randomUUID() as ProjectId;
  await ports.projects.create({ id, owner: principal.owner, name: 'tools', createdAt: 1 });
  const newActive = async () => {
    const session = newSession({ project: id });
    await ports.sessions.create(session, { workspace: workspaceOf(session) });
  };
  const remove = () => deleteProject(deps, principal, id);
  return { ...{ ports, hooks, clock, emptied, id, newActive, remove } };
};

test('a project with an active session stays', async () => {
  const { ports, emptied, id, newActive, remove } = await open();
  await newActive();
  await expect(remove()).rejects.toMatchObject({ code: 'conflict' });
  expect(await ports.projects.get(id)).toMatchObject({ name: 'tools' });
  expect(emptied).toEqual([]);
});

test('a repeat goes on with a project that is being emptied, whatever session was left in it', async () => {
  const { ports, clock, emptied, id, newActive, remove } = await open();
  await remove();
  await newActive();
  clock.now += 120_000;
  await remove();
  expect(await ports.projects.get(id)).toBeUndefined();
  expect(emptied).toEqual([id, id]);
});

test('a project that another caller made visible again before it was decided is looked at anew', async () => {
  const { ports, hooks, clock, emptied, id, newActive, remove } = await open();
  hooks.before = async ({ input }) => {
    if (!JSON.stringify(input).includes('SET isDecided')) return;
    hooks.before = async () => undefined;
    await newActive();
    clock.now += 120_000;
    await expect(remove()).rejects.toMatchObject({ code: 'conflict' });
  };
  await expect(remove()).rejects.toMatchObject({ code: 'conflict' });
  expect(await ports.projects.get(id)).toMatchObject({ name: 'tools' });
  expect(emptied).toEqual([]);
});
