import { describe, expect, test } from 'vitest';
import type { OwnerId, ProjectId } from './ids.ts';
import { defaultProject, deploymentOwner, mayRead, mayWrite, type Scope } from './principal.ts';

const own = '0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d' as ProjectId;
const other = '1b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d' as ProjectId;
const principal = (scope: Scope) => ({ owner: own as string as OwnerId, scope, tokenHash: 'hash' });
const resource = (project: ProjectId) => ({ owner: deploymentOwner, project });

type Row = { ownRead: boolean; ownWrite: boolean; otherRead: boolean; otherWrite: boolean };

// biome-ignore format: a table is read by column
const matrix: Record<'admin' | 'admin:ro' | 'project:<uuid>' | 'project:<uuid>:ro', Row> = {
  admin:               { ownRead: true, ownWrite: true,  otherRead: true,  otherWrite: true },
  'admin:ro':          { ownRead: true, ownWrite: false, otherRead: true,  otherWrite: false },
  'project:<uuid>':    { ownRead: true, ownWrite: true,  otherRead: false, otherWrite: false },
  'project:<uuid>:ro': { ownRead: true, ownWrite: false, otherRead: false, otherWrite: false },
};

describe('the scope matrix', () => {
  test.each(Object.entries(matrix))('%s', (written, row) => {
    const who = principal(written.replace('<uuid>', own) as Scope);
    expect({
      ownRead: mayRead(who, resource(own)),
      ownWrite: mayWrite(who, resource(own)),
      otherRead: mayRead(who, resource(other)),
      otherWrite: mayWrite(who, resource(other)),
    }).toEqual(row);
  });
});

test.each([
  'project:',
  `project:${own}x`,
  `project:${own.toUpperCase()}`,
  `project:${own}:rw`,
  `xproject:${own}`,
  'project:undefined',
])('a scope of another form (%s) opens nothing', (scope) => {
  expect(mayRead(principal(scope as Scope), resource(own))).toBe(false);
  expect(mayWrite(principal(scope as Scope), resource(own))).toBe(false);
});

test('the owner and the project of what names none are fixed: stored resources carry them', () => {
  expect(deploymentOwner).toBe('deployment');
  expect(defaultProject).toBe('00000000-0000-4000-8000-000000000000');
});
