import { describe, expect, test } from 'vitest';
import type { Effect, EffectFile } from './effect.ts';
import {
  type EffectRule,
  effectPolicyBytesMax,
  isRulePath,
  isShortEffectPolicy,
  ruleOn,
  triedTools,
} from './effect-rule.ts';

const file = (path: string, change: EffectFile['change'] = 'modified', bytes = 10): EffectFile => ({
  path,
  change,
  bytes,
  type: 'file',
});
const effect = (files: EffectFile[], rest: Partial<Effect> = {}): Effect => ({
  ...{ files, exitCode: 0, output: '', hosts: [], durationMs: 1 },
  ...rest,
});
type Rest = Partial<Effect> & { readonly name?: string; readonly hasFailed?: boolean };
const called = (
  files: EffectFile[],
  { name = 'execute_command', hasFailed = false, ...rest }: Rest = {},
) => ({
  name,
  hasFailed,
  effect: effect(files, rest),
});
type Row = [what: string, rule: Omit<EffectRule, 'verdict'>, call: ReturnType<typeof called>, fits: boolean];

const source = file('src/a.ts');
const deep = file('src/deep/b.ts', 'created', 90);
const removed = file('src/old.ts', 'removed', 1000);

describe('a rule fits what a call would do', () => {
  test.each<Row>([
    ['no condition, nothing changed', {}, called([]), true],
    ['no condition, anything', {}, called([removed], { hosts: ['a:443'], exitCode: 1 }), true],
    ['its tool', { tools: ['write_file'] }, called([source], { name: 'write_file', exitCode: null }), true],
    ['another tool', { tools: ['write_file'] }, called([source]), false],
    ['no tool at all', { tools: [] }, called([source]), false],
    ['all within', { within: ['src'] }, called([source, deep, removed]), true],
    ['nothing changed is within', { within: ['src'] }, called([]), true],
    ['within, with a slash at its end', { within: ['src/'] }, called([source]), true],
    ['within one of two', { within: ['docs', 'src/deep'] }, called([deep, file('docs/x')]), true],
    ['the file itself', { within: ['src/a.ts'] }, called([source]), true],
    ['one outside', { within: ['src'] }, called([source, file('package.json')]), false],
    ['a name that only begins so', { within: ['src'] }, called([file('src-old/a.ts')]), false],
    ['a file of the name of a longer path', { within: ['src/a'] }, called([file('src')]), false],
    ['the whole workspace', { within: ['.'] }, called([file('.git/config')]), true],
    ['another case of letters', { within: ['src'] }, called([file('SRC/a.ts')]), false],
    ['touched', { touches: ['.git'] }, called([source, file('.git/hooks/pre-commit')]), true],
    ['not touched', { touches: ['.git'] }, called([source, file('.github/x')]), false],
    ['removes', { removes: true }, called([source, removed]), true],
    ['removes nothing', { removes: true }, called([source]), false],
    ['no deletion wanted, none', { removes: false }, called([source, deep]), true],
    ['no deletion wanted, one', { removes: false }, called([removed]), false],
    ['no host wanted, none', { wantsHosts: false }, called([source]), true],
    ['no host wanted, one', { wantsHosts: false }, called([], { hosts: ['a:443'] }), false],
    ['no host wanted, a model', { wantsHosts: false }, called([], { hosts: ['models'] }), false],
    ['a host', { wantsHosts: true }, called([], { hosts: ['a:443'] }), true],
    ['succeeds', { succeeds: true }, called([source]), true],
    ['a file tool that succeeds', { succeeds: true }, called([source], { exitCode: null }), true],
    ['exit 1', { succeeds: true }, called([source], { exitCode: 1 }), false],
    ['a call that failed', { succeeds: true }, called([source], { exitCode: null, hasFailed: true }), false],
    ['failed as wanted', { succeeds: false }, called([], { exitCode: 2 }), true],
    ['as many files', { filesMax: 2 }, called([source, removed]), true],
    ['a file too many', { filesMax: 2 }, called([source, deep, removed]), false],
    ['no file at most', { filesMax: 0 }, called([]), true],
    ['as many bytes; a removed file has none', { bytesMax: 100 }, called([source, deep, removed]), true],
    ['a byte too many', { bytesMax: 99 }, called([source, deep]), false],
    ['all conditions', { within: ['src'], removes: false, filesMax: 1 }, called([source]), true],
    ['one of them not', { within: ['src'], removes: false, filesMax: 1 }, called([removed]), false],
  ])('%s: %j', (...[_what, rule, call, fits]: Row) => {
    const ruled = ruleOn(call, [{ verdict: 'approve', ...rule }]);
    expect(ruled).toEqual(fits ? { verdict: 'approve', rule: 1 } : undefined);
  });
});

test.each<[rule: EffectRule, verdict: EffectRule['verdict'] | undefined]>([
  [{ verdict: 'approve' }, undefined],
  [{ verdict: 'approve', within: ['.'] }, undefined],
  [{ verdict: 'approve', filesMax: 1000 }, undefined],
  [{ verdict: 'refuse' }, 'refuse'],
  [{ verdict: 'refuse', touches: ['src'] }, 'refuse'],
  [{ verdict: 'refuse', touches: ['docs'] }, undefined],
  [{ verdict: 'refuse', within: ['.'] }, undefined],
  [{ verdict: 'refuse', removes: false }, undefined],
  [{ verdict: 'refuse', filesMax: 200 }, undefined],
  [{ verdict: 'refuse', filesMax: 201 }, 'refuse'],
  [{ verdict: 'refuse', bytesMax: 1_000_000 }, undefined],
  [{ verdict: 'ask', touches: ['src'] }, 'ask'],
])('of an effect that is not listed whole nothing unknown is assumed: %j gives %s', (rule, verdict) => {
  expect(ruleOn(called([source], { filesLeftOut: 200 }), [rule])?.verdict).toBe(verdict);
});

const link: EffectFile = { path: 'docs/guide.md', change: 'created', bytes: 0, type: 'symlink', target: 'a' };
test.each<[what: string, file: EffectFile, isApproved: boolean]>([
  ['a link is made', link, false],
  ['a link points outside', { ...link, target: '../.git/hooks/pre-commit' }, false],
  ['a link changes', { ...link, change: 'modified', targetBefore: 'b' }, false],
  ['a link is removed', { ...link, change: 'removed' }, true],
  ['a link replaces a file', { ...link, change: 'modified', typeBefore: 'file' }, false],
  [
    'a file replaces a link',
    { ...file('docs/guide.md'), typeBefore: 'symlink', targetBefore: '/etc/passwd' },
    false,
  ],
  ['a folder replaces a file', { ...file('docs/guide.md'), type: 'directory', typeBefore: 'file' }, false],
  ['an older version compared', { path: 'docs/guide.md', change: 'modified', bytes: 0 }, false],
  ['a folder is made', { ...file('docs/new', 'created', 0), type: 'directory' }, true],
  ['a mode changes', { ...file('docs/a'), mode: '755', modeBefore: '644' }, true],
])('no rule approves that %s, others fit: %j', (_what, changed, isApproved) => {
  const within = ['docs'];
  const call = called([changed]);
  expect(ruleOn(call, [{ verdict: 'approve', within, bytesMax: 1000 }])?.verdict).toBe(
    isApproved ? 'approve' : undefined,
  );
  expect(ruleOn(call, [{ verdict: 'approve' }, { verdict: 'refuse', touches: within }])?.rule).toBe(
    isApproved ? 1 : 2,
  );
});

test('the first rule that fits decides', () => {
  const rules: EffectRule[] = [
    { verdict: 'refuse', touches: ['.git'] },
    { verdict: 'ask', wantsHosts: true },
    { verdict: 'approve', within: ['src'], removes: false },
    { verdict: 'refuse', within: ['src'] },
  ];
  expect(ruleOn(called([file('.git/config')], { hosts: ['a:1'] }), rules)).toEqual({
    verdict: 'refuse',
    rule: 1,
  });
  expect(ruleOn(called([source], { hosts: ['a:1'] }), rules)).toEqual({ verdict: 'ask', rule: 2 });
  expect(ruleOn(called([source]), rules)).toEqual({ verdict: 'approve', rule: 3 });
  expect(ruleOn(called([removed]), rules)).toEqual({ verdict: 'refuse', rule: 4 });
  expect(ruleOn(called([file('docs/a')]), rules)).toBeUndefined();
});

test.each(['.', 'src', 'src/', 'a/b.ts', '.git', 'with space', '...', 'ä'])(
  '%j is a path of a rule',
  (path) => {
    expect(isRulePath(path)).toBe(true);
  },
);

test.each(['', '/', '/src', '..', 'a/../b', './src', 'a//b', 'a/.', 'src//', 'a\0b'])(
  '%j is none',
  (path) => {
    expect(isRulePath(path)).toBe(false);
  },
);

test('the tools that can be tried are those of files, and commands', () => {
  expect(triedTools).toContain('execute_command');
  expect(triedTools).not.toContain('execute_code');
});

test('all rules have a bound together', () => {
  const within = (count: number) => ({ rules: [{ verdict: 'ask' as const, within: ['a'.repeat(count)] }] });
  const around = JSON.stringify(within(0)).length;
  expect(isShortEffectPolicy(within(effectPolicyBytesMax - around))).toBe(true);
  expect(isShortEffectPolicy(within(effectPolicyBytesMax - around + 1))).toBe(false);
});
