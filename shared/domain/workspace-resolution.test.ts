import { expect, test } from 'vitest';
import { derivedUuid, type OwnerId, type ProjectId, type WorkspaceId } from './ids.ts';
import {
  defaultWorkspaceKey,
  namedWorkspaceOwner,
  type Whereabouts,
  workspaceStep,
} from './workspace-resolution.ts';

const id = 'a' as WorkspaceId;
const derived = derivedUuid('ab'.repeat(32)) as WorkspaceId;

test.each<[{ id?: WorkspaceId; creates: boolean }, Whereabouts | undefined, string]>([
  [{ creates: false }, undefined, 'default'],
  [{ creates: true }, undefined, 'new'],
  [{ id, creates: false }, 'here', 'use'],
  [{ id, creates: true }, 'here', 'use'],
  [{ id, creates: false }, 'nowhere', 'not-found'],
  [{ id, creates: true }, 'nowhere', 'make'],
  [{ id, creates: false }, 'elsewhere', 'not-found'],
  [{ id, creates: true }, 'elsewhere', 'conflict'],
  [{ id: derived, creates: true }, 'here', 'use'],
  [{ id: derived, creates: true }, 'nowhere', 'conflict'],
])('WS1: %j, which is %s: %s', (request, whereabouts, step) => {
  expect(workspaceStep(request, whereabouts)).toBe(step);
});

test('a named workspace belongs to its project, or to the person who created it', () => {
  const project = 'p' as ProjectId;
  const owner = 'ann' as OwnerId;
  expect(namedWorkspaceOwner({ owner }, project)).toBe('p');
  expect(namedWorkspaceOwner({ owner, isPerson: true }, project)).toBe('ann');
  expect(defaultWorkspaceKey({ owner }, project)).toBe(
    defaultWorkspaceKey({ owner: 'x' as OwnerId }, project),
  );
  expect(defaultWorkspaceKey({ owner, isPerson: true }, project)).not.toBe(
    defaultWorkspaceKey({ owner }, project),
  );
});
