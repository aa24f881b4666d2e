import { expect, test } from 'vitest';
import { noTurn } from '#shared/domain/turn/turn.ts';
import { newSession } from '../../../tests/conformance/session-fixture.ts';
import type { CallContext, ToolContext } from '../define-tool.ts';
import { fileContent, getVolumePath, listFiles } from './files.ts';

const contextOf = (isAvailable: boolean) =>
  ({
    principal: { scope: 'admin:ro' },
    settings: { volume: { guestPath: '/shared', isAvailable } },
    ports: { sessions: { getWithTurn: async () => undefined } },
  }) as unknown as ToolContext;

test.each([true, false])('returns the shared folder and its existence (%s)', async (available) => {
  expect(await getVolumePath.run({}, contextOf(available))).toEqual({
    volume_path: '/shared',
    description: expect.stringContaining(available ? 'SHARED_VOLUME_PATH' : '/workspace'),
    available,
  });
});

test('an unknown session is not found', async () => {
  const asked = getVolumePath.run({ session_id: 'none' }, contextOf(true));
  await expect(asked).rejects.toMatchObject({ code: 'session_not_found' });
});

test.each([true, undefined])('a list says whether its folder has more (%s)', async (truncated) => {
  const session = newSession({ status: 'running' });
  const sandbox = { state: 'ready', generation: 1, address: 'http://sandbox', flavor: 'micro' };
  const file = { name: 'a', type: 'file', size: 1, modifiedAt: '2026-01-01T00:00:00.000Z' };
  const context = {
    principal: { scope: 'admin:ro', owner: session.owner },
    settings: { defaults: { lifetimes: {} } },
    signal: new AbortController().signal,
    onSession: () => undefined,
    ports: {
      turns: { getWithTurn: async () => ({ session, turn: noTurn }) },
      workspaces: { get: async () => ({ id: session.workspace, users: [], sandbox }) },
      link: { fetch: async () => Response.json({ files: [file], truncated }) },
      world: { now: () => 0 },
    },
  } as unknown as CallContext;
  expect(await listFiles.run({ session_id: session.id }, context)).toEqual({
    path: '.',
    files: [{ name: 'a', type: 'file', size: 1, modified_at: file.modifiedAt }],
    ...(truncated && { truncated }),
  });
});

const uri = 'sallyport://sessions/s/files/f';
const hex = (digits: string) => Buffer.from(digits, 'hex');

test.each([
  ['nothing', ''],
  ['several languages', 'né 🙂\r\n'],
  ['a byte order mark, which stays', '\ufeffx'],
])('text: %s', (_, text) => {
  expect(fileContent(Buffer.from(text), uri)).toEqual({ mimeType: 'text/plain', text });
});

test.each([
  ['image/png', '89504e470d0a1a0a0000'],
  ['image/jpeg', 'ffd8ffe000'],
  ['image/gif', '47494638396100ff'],
  ['image/gif', '47494638376100ff'],
  ['image/webp', '524946460a00ff0057454250'],
])('a picture: %s, %s', (mimeType, digits) => {
  const bytes = hex(digits);
  expect(fileContent(bytes, uri)).toEqual({
    mimeType,
    block: { type: 'image', data: bytes.toString('base64'), mimeType },
  });
});

test.each([
  ['a NUL in a text', '610062'],
  ['half a character', '61f09f99'],
  ['a picture that is not at the beginning', '0089504e470d0a1a0a'],
])('other content is bytes: %s', (_, digits) => {
  const bytes = hex(digits);
  const mimeType = 'application/octet-stream';
  expect(fileContent(bytes, uri)).toEqual({
    mimeType,
    block: { type: 'resource', resource: { uri, mimeType, blob: bytes.toString('base64') } },
  });
});
