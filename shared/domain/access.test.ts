import { describe, expect, test } from 'vitest';
import { intentOf, mayRead, mayUse, mayWrite, needs, projectOf, scopesFor } from './access.ts';
import type { OwnerId, ProjectId } from './ids.ts';
import { defaultProject, deploymentOwner, type Scope } from './principal.ts';

const own = '0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d' as ProjectId;
const other = '1b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d' as ProjectId;
const principal = (scope: Scope) => ({ owner: own as string as OwnerId, scope, tokenHash: 'hash' });
const resource = (project: ProjectId) => ({ owner: deploymentOwner, project });

type Row = {
  globalRead: boolean;
  globalWrite: boolean;
  admin: boolean;
  ownRead: boolean;
  ownWrite: boolean;
  otherRead: boolean;
  otherWrite: boolean;
};
type Written = 'admin' | 'admin:ro' | 'project:<uuid>' | 'project:<uuid>:ro';

const [yes, no] = [true, false];
// biome-ignore format: a table is read by column
const matrix: Record<Written, Row> = {
  admin:               { globalRead: yes, globalWrite: yes, admin: yes, ownRead: yes, ownWrite: yes, otherRead: yes, otherWrite: yes },
  'admin:ro':          { globalRead: yes, globalWrite: no,  admin: no,  ownRead: yes, ownWrite: no,  otherRead: yes, otherWrite: no },
  'project:<uuid>':    { globalRead: yes, globalWrite: no,  admin: no,  ownRead: yes, ownWrite: yes, otherRead: no,  otherWrite: no },
  'project:<uuid>:ro': { globalRead: yes, globalWrite: no,  admin: no,  ownRead: yes, ownWrite: no,  otherRead: no,  otherWrite: no },
};

describe('the scope matrix', () => {
  test.each(Object.entries(matrix))('%s', (written, row) => {
    const who = principal(written.replace('<uuid>', own) as Scope);
    expect({
      globalRead: mayUse(who, 'global:read'),
      globalWrite: mayUse(who, 'global:write'),
      admin: mayUse(who, 'admin'),
      ownRead: mayRead(who, resource(own)),
      ownWrite: mayWrite(who, resource(own)),
      otherRead: mayRead(who, resource(other)),
      otherWrite: mayWrite(who, resource(other)),
    }).toEqual(row);
    expect([mayUse(who, 'any'), mayUse(who, 'own:read'), mayUse(who, 'own:write')]).toEqual([
      true,
      row.ownRead,
      row.ownWrite,
    ]);
  });
});

test('a refusal names the sufficient scopes', () => {
  expect(Object.fromEntries(needs.map((need) => [need, scopesFor(need).join(' ')]))).toEqual({
    any: 'admin admin:ro project:<uuid> project:<uuid>:ro',
    'global:read': 'admin admin:ro project:<uuid> project:<uuid>:ro',
    'global:write': 'admin',
    'admin:read': 'admin admin:ro',
    admin: 'admin',
    'own:read': 'admin admin:ro project:<uuid> project:<uuid>:ro',
    'own:write': 'admin project:<uuid>',
  });
});

test('the permission for a resource follows from the permission of the API', () => {
  expect(Object.fromEntries(needs.map((need) => [need, intentOf(need)]))).toEqual({
    any: 'read',
    'global:read': 'read',
    'global:write': 'write',
    'admin:read': 'read',
    admin: 'write',
    'own:read': 'read',
    'own:write': 'write',
  });
});

describe('a person of a project', () => {
  const ann = { ...principal(`project:${own}`), owner: 'ann' as OwnerId, isPerson: true as const };
  test('owns what they created in it, and the project itself', () => {
    for (const resource of [{ owner: ann.owner, project: own }, { project: own }])
      expect([mayRead(ann, resource), mayWrite(ann, resource)]).toEqual([true, true]);
  });
  test.each([
    ['what another made in it', { owner: 'ben' as OwnerId, project: own }],
    ['what they made in another', { owner: ann.owner, project: other }],
    ['another project', { project: other }],
  ])('does not own %s', (_, resource) => {
    expect([mayRead(ann, resource), mayWrite(ann, resource)]).toEqual([false, false]);
  });
  test('is visible to a token of the project', () => {
    expect(mayWrite(principal(`project:${own}`), { owner: ann.owner, project: own })).toBe(true);
  });
});

test('an admin scope is bound to no project, any other to one', () => {
  expect([projectOf('admin'), projectOf('admin:ro'), projectOf(`project:${own}:ro`)]).toEqual([
    undefined,
    undefined,
    own,
  ]);
});

test.each([
  'project:',
  `project:${own}x`,
  `project:${own.toUpperCase()}`,
  `project:${own}:rw`,
  `xproject:${own}`,
  'project:undefined',
])('a scope of another form (%s) has no permissions', (scope) => {
  expect(mayRead(principal(scope as Scope), resource(own))).toBe(false);
  expect(mayWrite(principal(scope as Scope), resource(own))).toBe(false);
});

test('the defaults of owner and project are fixed, since stored resources contain them', () => {
  expect(deploymentOwner).toBe('deployment');
  expect(defaultProject).toBe('00000000-0000-4000-8000-000000000000');
});
