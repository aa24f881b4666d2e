import { expect, test } from 'vitest';
import type { ToolContext } from '../define-tool.ts';
import { fileContent, getVolumePath } from './files.ts';

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
