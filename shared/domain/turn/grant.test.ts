import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { type Grant, grantFor, literalWords } from './grant.ts';

const by = { kind: 'person', id: 'ada' } as const;
const grant = (prefix?: string, identity = '["sandbox","execute_command"]'): Grant => ({
  ...{ id: 'g', tool: 'execute_command', identity, by, at: 1 },
  ...(prefix === undefined ? {} : { prefix }),
});
const passes = (prefix: string, args: JsonObject): boolean =>
  grantFor({ name: 'execute_command', args }, [grant(prefix)]) !== undefined;

describe('a grant with a prefix', () => {
  test.each([
    'git status',
    'git status -s',
    '  git   status\t--porcelain=v2 ',
    `git 'status' "a file"`,
    'git status HEAD~2 HEAD^ a#b',
    `git status 'it; is | one $word'`,
  ])('covers %s', (command) => {
    expect(passes('git status', { command })).toBe(true);
  });

  test.each([
    'git',
    'git statusx',
    'git -c core.pager=x status',
    'git status; rm -rf .',
    'git status && x',
    'git status & x',
    'git status | sh',
    'git status > file',
    'git status < file',
    'git status $(x)',
    'git status `x`',
    'git status $HOME',
    'git status "$HOME"',
    'git status "a`x`"',
    'git status *',
    'git status a?',
    'git status [ab]',
    'git status {a,b}',
    'git status ~',
    'git status ~/x',
    'git status a:~',
    'git status \\x',
    'git status !x',
    'git status # x',
    'git status (x)',
    "git status 'open",
    'git status "open',
    'git status\nrm x',
    'git status\rrm x',
    'git status\u2028rm',
    'git status\u00a0-s',
    'git\u00a0status',
    'A=1 git status',
    'git status A=1',
    "git status 'a\nb'",
    '',
  ])('needs approval for %j', (command) => {
    expect(passes('git status', { command })).toBe(false);
  });

  test.each([
    [{ command: 'git', args: ['status'] }, true],
    [{ command: 'git', args: ['status', '; rm -rf .'] }, true],
    [{ command: 'git status', args: [] }, true],
    [{ command: 'git status; ls', args: [] }, false],
    [{ command: 'git status', cwd: 'x' }, false],
    [{ command: 'git status', env: { A: 'x' } }, false],
    [{ command: 'git', args: ['log'] }, false],
    [{ command: 'git', args: ['status', 1] }, false],
    [{ command: 'git status', timeout: 3 }, true],
    [{ command: 'git status', env: { A: '1' } }, false],
    [{ command: 'git status', cwd: '/tmp' }, false],
    [{ command: 'git status', stdin: 'x' }, false],
    [{ command: 'git status', background: true }, false],
    [{ command: 'git status', background: false }, true],
    [{ command: 'git status', anything: 'else' }, false],
    [{ command: 5 }, false],
  ])('%j: %s', (args, isCovered) => {
    expect(passes('git status', args as JsonObject)).toBe(isCovered);
  });

  test('reads its own words as those of a command', () => {
    expect(passes(`git  'status'`, { command: 'git status' })).toBe(true);
    expect(passes('git status;', { command: 'git status' })).toBe(false);
  });

  test('covers commands that a shell would run as these words, and no others', () => {
    const word = fc.stringMatching(/^[a-z0-9_./-]{1,8}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        expect(literalWords(words.join(' '))).toEqual(words);
        expect(literalWords(words.map((text) => `'${text}'`).join('\t'))).toEqual(words);
      }),
    );
  });

  test('checks any line in time proportional to its length', () => {
    fc.assert(fc.property(fc.string({ maxLength: 2000, unit: 'binary' }), (line) => void literalWords(line)));
    expect(literalWords(`${"'a' ".repeat(20_000)}"`)).toBeUndefined();
  });
});

describe('a grant without one', () => {
  test('covers every call of its tool, and of no other of the same name', () => {
    const call = { name: 'execute_command', args: { command: 'rm -rf . && x' } };
    expect(grantFor(call, [grant()])).toBeDefined();
    const route = { kind: 'remote', server: 's', tool: 'execute_command' } as const;
    expect(grantFor({ ...call, route }, [grant()])).toBeUndefined();
    expect(
      grantFor({ ...call, route }, [grant(undefined, '["server","s","execute_command"]')]),
    ).toBeDefined();
  });
});
