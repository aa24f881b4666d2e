/** The workspaces that the link serves: all that can be made, since one whose calls it refuses is never saved. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isUuid } from '#shared/domain/ids.ts';
import { givenUuid } from './fields.ts';
import { platformCall } from './relay/platform-call.ts';
import { linkCall } from './sandbox-link.ts';

const uuid = '0b5ff1c6-0a3f-4d0e-9d6e-6f1f7a2b3c4d';
const manifest = { id: uuid, sha256: '0'.repeat(64) };
const target = { address: 'http://10.42.0.9:8080', bearer: 'b' };

const calls = (workspace: string) => [
  { kind: 'save', ...target, workspace, id: uuid, base: { ...manifest, workspace }, logsAfter: 0 },
  { kind: 'restore', ...target, workspace, claim: 1, manifest: { ...manifest, workspace } },
  { kind: 'saved', workspace, manifest: { ...manifest, workspace }, savedAt: 1, want: 'file', path: 'a' },
  { kind: 'adopt', workspace, id: uuid, from: { ...manifest, workspace } },
  { kind: 'compare', workspace, before: { ...manifest, workspace } },
  { kind: 'apply', ...target, workspace, id: uuid, after: { ...manifest, workspace } },
];

const refusedFor = (workspace: string): readonly string[] => [
  ...calls(workspace).flatMap((call) => (linkCall.safeParse(call).success ? [] : [call.kind])),
  ...(givenUuid.safeParse(workspace).success ? [] : ['given by a client']),
  ...(platformCall.shape.workspace.safeParse(workspace).success ? [] : ['platform-call']),
];

const id = fc.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);

test.each(['11111111-2222-3333-4444-555555555555', 'deadbeef-dead-beef-dead-beefdeadbeef'])(
  'every call takes the workspace %s, whose id names no version of RFC 9562',
  (workspace) => {
    expect(isUuid(workspace)).toBe(true);
    expect(refusedFor(workspace)).toEqual([]);
  },
);

test('every call takes the id of each workspace that can be made', () => {
  fc.assert(fc.property(id.filter(isUuid), (workspace) => refusedFor(workspace).length === 0));
});

test.each(['', 'x', `${uuid}0`, `../${uuid}`])('no call takes %j', (workspace) => {
  expect(refusedFor(workspace)).toHaveLength(calls(workspace).length + 2);
});
