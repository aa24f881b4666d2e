import { expect, test } from 'vitest';
import { type ChildSandboxRequest, childSandbox } from './child-sandbox.ts';
import type { SessionId } from './ids.ts';

const parent = {
  template: 'python',
  flavor: 'small',
  environment: { of: 'p' as SessionId, names: ['A', 'B'], fingerprint: 'f' },
} as const;

const rule = { host: 'a.org', header: 'authorization', secret: 'TOKEN' };
const other = { host: 'b.org', header: 'x-key', secret: 'KEY' };
const own = { allow: ['a.org', 'b.org', '*.c.org'], inject: [rule, other] };
const networked = { ...parent, network: own };
const same = { template: 'python', flavor: 'small' };

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

test.each<[ChildSandboxRequest['network'], object]>([
  [undefined, { network: own, isOther: false }],
  [
    { allow: ['*.C.org', 'b.org', 'a.org'] },
    { network: { ...own, allow: ['*.C.org', 'b.org', 'a.org'] }, isOther: false },
  ],
  [
    { allow: ['a.org:443', 'x.c.org'] },
    { network: { allow: ['a.org:443', 'x.c.org'], inject: [rule] }, isOther: true },
  ],
  [
    { allow: ['a.org', 'b.org', '*.c.org'], inject: [other] },
    { network: { ...own, inject: [other] }, isOther: true },
  ],
  [
    { allow: ['a.org'], inject: [] },
    { network: { allow: ['a.org'] }, isOther: true },
  ],
  [null, { isOther: true }],
])('of a network it is given %j', (network, given) => {
  expect(childSandbox(networked, { network })).toEqual({ ok: true, sandbox: { ...same, ...given } });
});

test.each<[ChildSandboxRequest['network'], string]>([
  [{ allow: ['a.org', 'd.org', 'c.org'] }, 'network: you may not reach d.org, c.org'],
  [{ allow: ['*.org'] }, 'network: you may not reach *.org'],
  [
    { allow: ['a.org'], inject: [{ ...rule, secret: 'OTHER' }] },
    'network: you have no such rule for authorization of a.org',
  ],
])('a network of %j is refused', (network, problem) => {
  expect(childSandbox(networked, { network })).toEqual({ ok: false, problem });
});

test('a parent without a network has none to give', () => {
  expect(childSandbox(parent, { network: { allow: ['a.org'] } })).toMatchObject({ ok: false });
  expect(childSandbox(parent, { network: null })).toEqual({ ok: true, sandbox: { ...same, isOther: false } });
});
