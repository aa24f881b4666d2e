import { expect, test } from 'vitest';
import { type ChildSandboxRequest, childSandbox } from './child-sandbox.ts';
import type { SessionId } from './ids.ts';

const parent = {
  template: 'python',
  flavor: 'small',
  environment: { of: 'p' as SessionId, names: ['A', 'B'], fingerprint: 'f' },
} as const;

test.each<[ChildSandboxRequest, object]>([
  [{}, { template: 'python', flavor: 'small', isOther: false }],
  [
    { template: 'python', flavor: 'small', env: ['B', 'A'] },
    { template: 'python', flavor: 'small', isOther: false },
  ],
  [{ template: 'node' }, { template: 'node', flavor: 'small', isOther: true }],
  [{ flavor: 'micro' }, { template: 'python', flavor: 'micro', isOther: true }],
  [{ env: ['B'] }, { template: 'python', flavor: 'small', isOther: true, env: ['B'] }],
  [{ env: [] }, { template: 'python', flavor: 'small', isOther: true, env: [] }],
])('%j', (asked, sandbox) => {
  expect(childSandbox(parent, asked)).toEqual({ ok: true, sandbox });
});

test.each<[ChildSandboxRequest, string]>([
  [{ flavor: 'large' }, 'flavor: at most small, your own'],
  [{ env: ['A', 'C', 'D'] }, 'env: you have no variable C, D'],
])('%j is refused', (asked, problem) => {
  expect(childSandbox(parent, asked)).toEqual({ ok: false, problem });
});

test('a parent without variables has none to leave out', () => {
  const { environment: _, ...bare } = parent;
  expect(childSandbox(bare, { env: [] })).toMatchObject({ sandbox: { isOther: false } });
});
