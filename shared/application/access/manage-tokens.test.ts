import { expect, test } from 'vitest';
import { fake } from '../../../tests/fake.ts';
import type { OwnerId, ProjectId } from '../../domain/ids.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Project } from '../../domain/project.ts';
import type { AuditLog, TokenStore } from '../../ports/access.ts';
import type { ProjectStore } from '../../ports/projects.ts';
import { createToken } from './manage-tokens.ts';

const known = '11111111-1111-4111-8111-111111111111' as ProjectId;
const admin: Principal = { owner: 'deployment' as OwnerId, scope: 'admin', tokenHash: 'h' };

const made = async (scope: string) => {
  const stored: string[] = [];
  const rows: string[] = [];
  const ports = {
    tokens: fake<TokenStore>({ put: async (token) => void stored.push(token.scope) }),
    projects: fake<ProjectStore>({ get: async (id) => (id === known ? fake<Project>({ id }) : undefined) }),
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

test.each(['', ':ro'])('a token for a project that does not exist is refused%s', async (suffix) => {
  const scope = `project:44444444-4444-4444-8444-444444444444${suffix}`;
  expect(await made(scope)).toEqual(['project_not_found', [], []]);
});
