import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import type { RequestedCall, ToolRoute } from '../requested-call.ts';
import type { ApprovalMode } from '../session.ts';
import { sandboxToolNames } from '../tools.ts';
import { allowedBy, repetitionOf } from './approval-policy.ts';
import type { Grant } from './grant.ts';

const first = { calls: '', times: 1 };
const needsHuman = (...asked: Parameters<typeof allowedBy>): boolean => allowedBy(...asked) === undefined;
const grantOf = (identity: string): Grant => ({
  ...{ id: 'g', tool: 'x', identity, by: { kind: 'person', id: 'ada' }, at: 1 },
});
const asksHuman = (mode: ApprovalMode, name: string, args: JsonObject = {}): boolean =>
  needsHuman({ name, args }, { mode, grants: [] }, first);
const processRoute = { kind: 'platform', tool: 'process' } as const;
const asksGit = (command: string): boolean => asksHuman('medium', 'execute_command', { command });

describe('calls that need approval', () => {
  const modes: readonly ApprovalMode[] = ['ask', 'low', 'medium', 'high', 'auto'];
  // biome-ignore format: a table is read by column
  const table: Readonly<Record<string, readonly [JsonObject, ...boolean[]]>> = {
    //                                                    ask   low    medium high   auto
    read_file:       [{ path: 'a.txt' },                  true, false, false, false, false],
    list_files:      [{},                                 true, false, false, false, false],
    write_file:      [{ path: 'a.txt', content: '' },     true, true,  false, false, false],
    execute_command: [{ command: 'ls' },                  true, true,  true,  false, false],
    execute_code:    [{ code: '1', language: 'python' },  true, true,  true,  false, false],
    'another tool':  [{},                                 true, true,  true,  false, false],
  };
  const cells = Object.entries(table).flatMap(([name, [args, ...asked]]) =>
    modes.map((mode, index) => ({ mode, name, args, asked: asked[index] })),
  );

  test.each(cells)('$name in $mode: $asked', ({ mode, name, args, asked }) => {
    expect(asksHuman(mode, name, args)).toBe(asked);
  });

  test('the table names every tool there is', () => {
    expect(sandboxToolNames.filter((name) => !Object.hasOwn(table, name))).toEqual([]);
  });

  test.each(modes)(
    'in %s an agent’s read of other sessions is like a file read, and a start like a command',
    (mode) => {
      const asks = (action: string): boolean => {
        const call = {
          name: 'session',
          args: { action },
          route: { kind: 'platform', tool: 'session' },
        } as const;
        return needsHuman(call, { mode, grants: [] }, first);
      };
      expect(['get', 'list', 'events'].map(asks)).toEqual(Array(3).fill(asksHuman(mode, 'list_files', {})));
      const likeACommand = asksHuman(mode, 'execute_command', { command: 'make' });
      expect(['spawn', 'message', 'end', ''].map(asks)).toEqual(Array(4).fill(likeACommand));
    },
  );

  test.each(modes)('in %s a look at a process is like a file read, its end like an edit', (mode) => {
    const asks = (action: string): boolean =>
      needsHuman({ name: 'process', args: { action }, route: processRoute }, { mode, grants: [] }, first);
    expect(['list', 'output'].map(asks)).toEqual(Array(2).fill(asksHuman(mode, 'list_files', {})));
    const likeAnEdit = asksHuman(mode, 'write_file', { path: 'a', content: '' });
    expect(['signal', 'kill'].map(asks)).toEqual(Array(2).fill(likeAnEdit));
  });

  test.each(modes)('in %s input to a process is asked, whatever is granted', (mode) => {
    const policy = { mode, grants: [grantOf('["platform","process"]')] };
    const call = (action: string) => ({ name: 'process', args: { action }, route: processRoute });
    expect(needsHuman(call('input'), policy, first)).toBe(true);
    expect(needsHuman(call('kill'), policy, first)).toBe(false);
  });

  test('a start in the background is judged like its call, and is no plain git command', () => {
    const args = { command: 'git status', background: true };
    expect(asksGit('git status')).toBe(false);
    expect(asksHuman('medium', 'execute_command', args)).toBe(true);
    expect(asksHuman('high', 'execute_command', args)).toBe(false);
    expect(asksHuman('ask', 'execute_command', args)).toBe(true);
  });

  test.each(modes)('a tool that a person allowed for the session needs no approval in %s', (mode) => {
    const policy = { mode, grants: [grantOf('["sandbox","execute_code"]')] };
    expect(allowedBy({ name: 'execute_code', args: {} }, policy, { calls: '', times: 9 })).toEqual({
      kind: 'grant',
      id: 'g',
    });
  });
});

describe('a tool of a registered server', () => {
  const route: ToolRoute = { kind: 'remote', server: 'docs', tool: 'read_file' };
  const policy = { mode: 'medium', grants: [] } as const;

  test.each([
    ['read_file', { path: 'a.txt' }],
    ['write_file', { path: 'a.txt', content: '' }],
    ['execute_command', { command: 'git status' }],
  ])('that is named %s needs approval all the same', (name, args) => {
    expect(needsHuman({ name, args }, policy, first)).toBe(false);
    expect(needsHuman({ name, args, route }, policy, first)).toBe(true);
  });

  test('is granted as that of its server', () => {
    const call: Pick<RequestedCall, 'name' | 'args' | 'route'> = { name: 'read_file', args: {}, route };
    const asked = (remembered: string, other = call) =>
      needsHuman(other, { mode: 'ask', grants: [grantOf(remembered)] }, first);
    const [own, sandbox] = ['["server","docs","read_file"]', '["sandbox","read_file"]'] as const;
    expect([asked(own), asked(sandbox)]).toEqual([false, true]);
    const moved = { ...call, route: { ...route, server: 'other' } };
    expect(asked(own, moved)).toBe(true);
    expect(asked(own, { ...call, route: { kind: 'caller', caller: 'docs', tool: 'read_file' } })).toBe(true);
  });
});

describe('git in medium mode', () => {
  test.each([[{ env: { GIT_EXTERNAL_DIFF: 'sh x' } }], [{ cwd: 'evil' }], [{ background: true }]])(
    'git diff with %j needs approval',
    (more) => {
      expect(asksHuman('medium', 'execute_command', { command: 'git diff', ...more })).toBe(true);
    },
  );

  test.each([
    'git status',
    'git log',
    'git log --oneline -n 5',
    'git diff HEAD~2 -- src/a.ts',
    'git show HEAD^:src/a.ts',
    'git add -A',
    'git add ./src/a-b_c.ts',
    'git commit -m fix',
    'git switch -c feature/x',
    'git stash',
    'git log -5 --since=2.weeks --pretty=oneline',
    'git diff --stat -U10 HEAD~1',
    'git commit -am fix',
    'git checkout -- src/a.ts',
    'git show -s --format=short HEAD',
    'git status -sb --porcelain=v2',
    'git tag -n3 --sort=-taggerdate',
    'git switch -',
  ])('%s needs no approval', (command) => {
    expect(asksGit(command)).toBe(false);
  });

  test.each([
    'git',
    'git -c core.pager=x log',
    'git -C / status',
    'git --exec-path=/tmp log',
    'git --git-dir=evil log',
    'git log; rm -rf /',
    'git status && x',
    'git status & x',
    'git status | sh',
    'git log $(x)',
    'git log `x`',
    'git log > .git/hooks/pre-commit',
    'git log\nrm -rf /',
    'git status\n',
    'git\tstatus',
    ' git status',
    'git show --ext-diff',
    'git log --textconv',
    'git log -1 --pretty=format:../x --output=.git/commondir',
    'git diff --output x',
    'git diff --outp=x',
    'git log -n -- --output=x',
    'git stash list --output=x',
    'git merge -s x',
    'git merge -sx',
    'git merge --strategy=x',
    'git commit -S',
    'git commit -amF',
    'git commit --template=x',
    'git commit --message',
    'git status --porcelain= --exec=x',
    'git add -p',
    'git add --edit',
    'git branch --edit-description',
    'git tag --sign x',
    'git mv x .git/hooks/pre-commit',
    'git mv a.txt .gitconfig',
    'git mv d ~/.config',
    'git mv d/.GitConfig e',
    'git log ---',
    'git toString',
    'git bisect run x',
    'git rebase --exec x',
    'git config core.fsmonitor x',
    'git submodule foreach x',
    'git clone --upload-pack=x y',
    'git grep -Ox y',
    'git difftool --extcmd=x',
    'git an-alias',
    'git commit -m "two words"',
    'gitx status',
    'GIT_PAGER=x git log',
    'ls',
    '',
  ])('%j needs approval', (command) => {
    expect(asksGit(command)).toBe(true);
  });

  test('a command that is not text needs approval, and so does git in another tool', () => {
    expect(asksHuman('medium', 'execute_command', { command: ['git', 'status'] })).toBe(true);
    expect(asksHuman('medium', 'execute_command')).toBe(true);
    expect(asksHuman('medium', 'execute_code', { command: 'git status' })).toBe(true);
  });
});

test.each([
  ['.git/config', true],
  ['a/.git/hooks/pre-commit', true],
  ['./.GIT/config', true],
  ['.git', true],
  ['.gitconfig', true],
  ['a/.gitconfig', true],
  ['.config/git/config', true],
  ['a/.config', true],
  ['.gitignore', false],
  ['config', false],
  ['a.git/b', false],
])('in medium mode an edit of %s is asked: %s', (path, asked) => {
  expect(asksHuman('medium', 'write_file', { path, content: '' })).toBe(asked);
});

test('in medium mode an edit without a path needs approval', () => {
  expect(asksHuman('medium', 'write_file', { path: 5 })).toBe(true);
});

describe('repetition', () => {
  const list = { name: 'list_files', args: { path: 'a' } };
  const run = { name: 'execute_command', args: { command: 'ls' } };

  test('the same calls in a row are counted, different ones reset the count', () => {
    const one = repetitionOf([list, run], undefined);
    const two = repetitionOf([list, run], one);
    const three = repetitionOf([list, run], two);
    expect([one.times, two.times, three.times]).toEqual([1, 2, 3]);
    for (const other of [[run, list], [list], [list, run, run], [{ ...list, args: { path: 'b' } }, run], []])
      expect(repetitionOf(other, three).times).toBe(1);
  });

  test('in high mode the third time needs approval, and every one after it', () => {
    const asked = [1, 2, 3, 4].map((times) =>
      needsHuman(run, { mode: 'high', grants: [] }, { calls: '', times }),
    );
    expect(asked).toEqual([false, false, true, true]);
  });

  test('the stored fingerprint of calls is short, however long they are', () => {
    const long = { name: 'write_file', args: { path: 'a', content: 'x'.repeat(300_000) } };
    const other = { name: 'write_file', args: { path: 'a', content: `${'x'.repeat(299_999)}y` } };
    expect(repetitionOf([long], undefined).calls.length).toBeLessThan(40);
    expect(repetitionOf([other], repetitionOf([long], undefined)).times).toBe(1);
  });
});
