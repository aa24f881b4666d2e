/** Sealed environments against a real DynamoDB engine: opened for their session and secret alone, and deleted with it. */
import { expect, test } from 'vitest';
import { makeEnvironments } from '#shared/adapters/aws/environments.ts';
import type { SessionId } from '#shared/domain/ids.ts';
import { newSession, onTable, workspaceOf } from './session-fixture.ts';
import { openFileTable } from './table-fixture.ts';

const fixture = openFileTable();

const variables = { B: 'two', A: 'a very secret value', EMPTY: '' };

const stored = async (secret = 'the secret') => {
  const environments = makeEnvironments(fixture.table, secret);
  const { sessions } = onTable(fixture.table);
  const id = crypto.randomUUID() as SessionId;
  const { sealed, ...environment } = environments.seal(id, variables);
  const session = newSession({ id, environment, cwd: 'app' });
  await sessions.create(session, { workspace: workspaceOf(session), sealed });
  return { environments, sessions, session, sealed };
};

test('an environment is read back, and its session shows names alone', async () => {
  const { environments, sessions, session, sealed } = await stored();
  expect(await environments.read(session.id)).toEqual(variables);
  expect(await sessions.get(session.id)).toEqual(session);
  expect(session.environment?.names).toEqual(['A', 'B', 'EMPTY']);
  expect(JSON.stringify([session, sealed])).not.toContain('secret');
  expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('secret');
});

test('equal variables have equal fingerprints, and are never sealed alike', async () => {
  const { environments, session, sealed } = await stored();
  const again = environments.seal(session.id, { EMPTY: '', A: 'a very secret value', B: 'two' });
  expect(again.fingerprint).toBe(session.environment?.fingerprint);
  expect(again.sealed).not.toBe(sealed);
  expect(environments.seal(session.id, { A: 'other' }).fingerprint).not.toBe(again.fingerprint);
});

test('another secret, another session and a changed text open nothing', async () => {
  const { environments, sessions, session, sealed } = await stored();
  expect(await makeEnvironments(fixture.table, 'another').read(session.id)).toBeUndefined();
  const bytes = Buffer.from(sealed, 'base64');
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  for (const text of [sealed, bytes.toString('base64'), '']) {
    const other = newSession();
    await sessions.create(other, { workspace: workspaceOf(other), sealed: text });
    expect(await environments.read(other.id)).toBeUndefined();
  }
});

test('an environment is deleted with its session', async () => {
  const { environments, session } = await stored();
  await onTable(fixture.table).remove(session.id);
  expect(await environments.read(session.id)).toBeUndefined();
});
