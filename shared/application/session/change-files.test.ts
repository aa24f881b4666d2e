/** A change whose answer breaks off: one that is done once may have been done. */
import { expect, test } from 'vitest';
import { fake } from '../../../tests/fake.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import type { WorkspaceId } from '../../domain/ids.ts';
import { AppError, UnsentError } from '../../errors.ts';
import type { FileDeps } from '../deps.ts';
import { changeFiles } from './change-files.ts';

const sandbox = { workspaceId: 'w' as WorkspaceId, generation: 1, address: 'a', flavor: 'small' } as const;

const brokenOff = () => Promise.reject(new AppError('sandbox_unavailable', 'it broke off'));
const unsent = () => Promise.reject(new UnsentError('no byte was sent'));
const inItsMiddle = async () =>
  new Response(new ReadableStream({ pull: (body) => body.error(new Error('cut')) }));

const once = { isOnce: true };

test.each([
  { when: 'once, in its answer', fetch: brokenOff, kind: once, code: 'tool_outcome_unknown' },
  { when: 'once, behind its status', fetch: inItsMiddle, kind: once, code: 'tool_outcome_unknown' },
  { when: 'once, before it was sent', fetch: unsent, kind: once, code: 'sandbox_unavailable' },
  { when: 'as often as it is asked', fetch: brokenOff, kind: {}, code: 'sandbox_unavailable' },
])('a change that breaks off and is done $when: $code', async ({ fetch, kind, code }) => {
  const ports = fake<FileDeps>({ ...openQuietPorts().ports, link: { fetch } });
  const request = { method: 'POST', path: '/files/a?op=move&to=b', ...kind };
  await expect(changeFiles(ports, sandbox, request)).rejects.toMatchObject({ code });
});

test.each([
  {
    isOnce: false,
    code: 'sandbox_unavailable',
    message: 'the change was not saved: the sandbox no longer exists',
  },
  {
    isOnce: true,
    code: 'tool_outcome_unknown',
    message: expect.stringContaining('the change may have been made'),
  },
])('a change whose sandbox is gone before it was saved (once: $isOnce) has failed: $code', async (one) => {
  const fetch = async () => new Response('{}', { status: 201 });
  const ports = fake<FileDeps>({ ...openQuietPorts().ports, link: { fetch } });
  const changed = changeFiles(ports, sandbox, { method: 'PUT', path: '/files/a', isOnce: one.isOnce });
  await expect(changed).rejects.toMatchObject({ code: one.code, message: one.message });
});

const begins = 'Send the part that starts at the byte in the message.';
const paths = 'Paths are relative to /workspace;';

test.each([
  { code: 'conflict', headers: { 'content-range': 'bytes 3-5/6' }, advice: begins },
  { code: 'path_outside_workspace', headers: { 'content-range': 'bytes 3-5/6' }, advice: paths },
  { code: 'conflict', headers: {}, advice: paths },
])('a refusal ($code) of $headers says: $advice', async ({ code, headers, advice }) => {
  const fetch = async () => Response.json({ error: { code, message: 'no' } }, { status: 409 });
  const ports = fake<FileDeps>({ ...openQuietPorts().ports, link: { fetch } });
  const changed = changeFiles(ports, sandbox, { method: 'PUT', path: '/files/a', headers });
  const suggestions = [expect.stringContaining(advice)];
  await expect(changed).rejects.toMatchObject({ code, details: { suggestions } });
});
