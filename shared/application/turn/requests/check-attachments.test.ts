/** The attachments of a message, checked: what is an image, what is only named, and what is refused. */
import { expect, test } from 'vitest';
import { fake } from '../../../../tests/fake.ts';
import { attachedImageBytesMax } from '../../../domain/attachment.ts';
import type { Session } from '../../../domain/session.ts';
import type { Inbox } from '../../../ports/inbox.ts';
import type { SavedFiles } from '../../../ports/workspace-archive.ts';
import type { WorkspaceStore } from '../../../ports/workspace-store.ts';
import type { Deps } from '../../deps.ts';
import { checkAttachments } from './check-attachments.ts';

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ', 'base64');
const refusal = (code: string, status: number) =>
  Response.json({ error: { code, message: 'refused' } }, { status });

type Saved = { readonly bytes: Uint8Array; readonly size?: number } | { readonly type: string } | Response;

type Ports = Deps<'workspaces' | 'link' | 'savedFiles' | 'inbox'>;

const portsWith = (files: Readonly<Record<string, Saved>>): Ports => ({
  inbox: fake<Inbox>({ wasAccepted: async (_session, id) => id === 'accepted' }),
  workspaces: fake<WorkspaceStore>({
    get: () => Promise.resolve({ checkpoint: {} } as Awaited<ReturnType<WorkspaceStore['get']>>),
  }),
  link: { fetch: () => Promise.reject(new Error('no sandbox runs')) },
  savedFiles: fake<SavedFiles>({
    fetch: (_workspace, { want, path }) => {
      const file = files[path] ?? refusal('file_not_found', 404);
      if (file instanceof Response) return Promise.resolve(file.clone());
      if (!('bytes' in file)) return Promise.resolve(Response.json({ ...file, size: 0 }));
      const { bytes, size = bytes.length } = file;
      return Promise.resolve(
        want === 'stat' ? Response.json({ type: 'file', size }) : new Response(Buffer.from(bytes)),
      );
    },
  }),
});
const session = { status: 'idle', workspace: 'w' } as unknown as Session;
const check = (files: Readonly<Record<string, Saved>>, ...paths: string[]) =>
  checkAttachments(portsWith(files), session, {
    messageId: 'new',
    attachments: paths.map((path) => ({ path })),
  });

test('an image is known by its bytes, whatever its name, and any other file is only named', async () => {
  const files = { 'picture.txt': { bytes: png }, 'notes.png': { bytes: Buffer.from('text') } };
  expect(await check(files, 'picture.txt', 'notes.png')).toEqual([
    { path: 'picture.txt', mimeType: 'image/png' },
    { path: 'notes.png' },
  ]);
});

test('a message without attachments reads nothing', async () => {
  expect(await checkAttachments(fake<Ports>({}), session, { messageId: 'new' })).toEqual([]);
});

test.each([
  ['gone.png', 'invalid_request', 'there is no file "gone.png"'],
  ['folder', 'invalid_request', '"folder" is a directory'],
  ['../x', 'path_outside_workspace', 'refused'],
  ['large.png', 'payload_too_large', '"large.png"'],
])('%s is refused by name', async (path, code, message) => {
  const files = {
    folder: { type: 'directory' },
    '../x': refusal('path_outside_workspace', 400),
    'large.png': { bytes: png, size: attachedImageBytesMax + 1 },
  };
  await expect(check(files, path)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
});

test('a message that was accepted is not refused when it is repeated without its file', async () => {
  const repeat = { messageId: 'accepted', attachments: [{ path: 'gone.png' }] };
  expect(await checkAttachments(portsWith({}), session, repeat)).toEqual([]);
});

test('a file of any size is named', async () => {
  const files = { 'data.csv': { bytes: Buffer.from('a,b'), size: 10 ** 9 }, empty: { bytes: Buffer.of() } };
  expect(await check(files, 'data.csv', 'empty')).toEqual([{ path: 'data.csv' }, { path: 'empty' }]);
});
