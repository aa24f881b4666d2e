import { expect, test } from 'vitest';
import { fake } from '../../../tests/fake.ts';
import type { OwnerId, ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import type { AuditLog, TokenStore } from '../../ports/access.ts';
import type { ProjectStore } from '../../ports/projects.ts';
import { createToken } from './manage-tokens.ts';

const known = '11111111-1111-4111-8111-111111111111' as ProjectId;
/** Deleted after it was read. */
const deleted = '22222222-2222-4222-8222-222222222222' as ProjectId;
const admin: Principal = { owner: 'deployment' as OwnerId, scope: 'admin', tokenHash: 'h' };

const made = async (scope: string) => {
  const stored: string[] = [];
  const rows: string[] = [];
  const ports = {
    tokens: fake<TokenStore>({
      put: async (token) => !token.scope.includes(deleted) && stored.push(token.scope) > 0,
    }),
    projects: fake<ProjectStore>({
      get: async (id) => ([known, deleted].includes(id) ? fake<Project>({ id }) : undefined),
    }),
    auditLog: fake<AuditLog>({ append: async (row) => void rows.push(row.action) }),
    telemetry: { info() {}, warn() {}, error() {}, count() {}, duration() {} },
    world: {
      now: () => 1,
      uuid: () => crypto.randomUUID(),
      sha256: (text: string) => text,
      sleep: async () => {},
    },
  };
  const answer = await createToken(ports, admin, { name: 't', scope }).then(
    ({ record }) => record.scope,
    ({ code }) => code,
  );
  return [answer, stored, rows];
};

test.each(['admin', 'admin:ro', `project:${known}`, `project:${known}:ro`])(
  'a token of the scope %s is stored and in the audit log',
  async (scope) => {
    expect(await made(scope)).toEqual([scope, [scope], ['token.create']]);
  },
);

test.each(['', ':ro'])(
  'a token for a project that does not exist, or is deleted by now, is refused%s',
  async (suffix) => {
    for (const project of ['44444444-4444-4444-8444-444444444444', deleted])
      expect(await made(`project:${project}${suffix}`)).toEqual(['project_not_found', [], []]);
  },
);
