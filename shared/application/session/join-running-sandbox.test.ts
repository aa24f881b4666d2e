/** New sessions in a workspace whose sandbox runs, starts, or has stopped. */
import { expect, test } from 'vitest';
import { newSandbox, newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { joinRunningSandbox } from './create-session.ts';

const session = newSession({ flavor: 'micro', template: 'node' });
const within = (sandbox = newSandbox({ flavor: 'small', state: 'ready' })) => ({
  ...workspaceOf(session),
  sandbox,
});

test('a session that names nothing takes what runs', () => {
  expect(joinRunningSandbox(session, within(), {})).toEqual({
    ...session,
    flavor: 'small',
    template: 'python',
  });
});

test('a session that names something else is refused, and each difference named', () => {
  expect(() => joinRunningSandbox(session, within(), { flavor: 'micro', template: 'node' })).toThrow(
    expect.objectContaining({
      code: 'conflict',
      message: 'the sandbox of the workspace runs with another flavor, template',
    }),
  );
});

test('a sandbox that stops, or none, decides nothing', () => {
  for (const state of ['stopping', 'stopped'] as const)
    expect(joinRunningSandbox(session, within(newSandbox({ state })), { flavor: 'micro' })).toBe(session);
  expect(joinRunningSandbox(session, workspaceOf(session), { flavor: 'micro' })).toBe(session);
});
