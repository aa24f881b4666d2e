import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { deployCommand } from './deploy.ts';
import { destroyCommand } from './destroy.ts';
import { type Broken, busyAccount, emptyAccount, openMachine } from './fixtures/machine.ts';

const installed = ['aws', 'cdk', 'docker', 'npm'];
const tokensIn = (text: string): readonly string[] => text.match(/sp_[0-9a-f]{64}/g) ?? [];
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** A first deploy whose run is broken so, and the same command once more. */
const deployTwice = async (broken: Broken) => {
  let isFirst = true;
  const machine = openMachine(emptyAccount, installed, (number) => (isFirst ? broken(number) : undefined));
  const first = await machine.run(deployCommand, ['--yes']);
  isFirst = false;
  const second = await machine.run(deployCommand, ['--yes']);
  const shown = tokensIn(`${first.out}${first.error}${second.out}${second.error}`);
  return { first, second, shown, live: machine.state.adminHash, calls: machine.calls };
};

const callsOfDeploy = async (): Promise<readonly string[]> => {
  const machine = openMachine(emptyAccount);
  await machine.run(deployCommand, ['--yes']);
  return machine.calls;
};

for (const effect of ['before', 'after'] as const) {
  test(`a first deploy that breaks ${effect} any one call and is repeated shows one token, once, and it works`, async () => {
    const calls = await callsOfDeploy();
    expect(calls.length).toBeGreaterThan(10);
    for (const [index, call] of calls.entries()) {
      const { second, shown, live } = await deployTwice((number) =>
        number === index + 1 ? effect : undefined,
      );
      expect([call, second.code, shown.map(hashOf)]).toEqual([call, 0, [live]]);
    }
  });

  test(`a first deploy whose connection ends ${effect} a call for good loses no token`, async () => {
    const calls = await callsOfDeploy();
    for (const index of calls.keys()) {
      const { second, shown, live } = await deployTwice((number) => {
        if (number <= index) return undefined;
        return number === index + 1 ? effect : 'before';
      });
      expect(second.code).toBe(0);
      expect(hashOf(shown.at(-1) ?? '')).toBe(live);
    }
  });
}

test.each(Object.keys(emptyAccount.deployed))(
  'a first deploy that fails at the stack %s shows its token at the next one',
  async (stack) => {
    const machine = openMachine({ ...emptyAccount, cdkFailsAt: stack });
    const first = await machine.run(deployCommand, ['--yes']);
    expect([first.code, tokensIn(first.out)]).toEqual([1, []]);
    machine.state.cdkFailsAt = undefined;
    const second = await machine.run(deployCommand, ['--yes']);
    expect(tokensIn(second.out).map(hashOf)).toEqual([machine.state.adminHash]);
  },
);

test.each(['UPDATE_FAILED', 'UPDATE_ROLLBACK_COMPLETE', 'UPDATE_ROLLBACK_FAILED', 'ROLLBACK_COMPLETE'])(
  'an upgrade leaves the token alone while the edge stack is %s',
  async (status) => {
    const machine = openMachine(busyAccount);
    machine.state.adminHash = 'known';
    Object.assign(machine.state.stacks['sallyport-edge'] ?? {}, { status });
    const { out, error } = await machine.run(deployCommand, ['--yes']);
    expect([tokensIn(out + error), machine.state.adminHash]).toEqual([[], 'known']);
  },
);

test.each([
  ['UPDATE_IN_PROGRESS', /wait for its end/],
  ['UPDATE_ROLLBACK_IN_PROGRESS', /wait for its end/],
  ['UPDATE_ROLLBACK_FAILED', /continue-update-rollback --stack-name sallyport-compute/],
  ['DELETE_FAILED', /delete-stack --stack-name sallyport-compute/],
])('nothing is deployed while a stack is %s', async (status, says) => {
  const machine = openMachine(busyAccount);
  Object.assign(machine.state.stacks['sallyport-compute'] ?? {}, { status });
  const { code, error } = await machine.run(deployCommand, ['--yes']);
  expect([code, error]).toEqual([1, expect.stringMatching(says)]);
  expect(error).toContain(`stack sallyport-compute is ${status}`);
  expect(machine.calls.filter((call) => call.startsWith('cdk'))).toEqual([]);
});

test('a replacement that was interrupted is shown by the next deploy', async () => {
  const machine = openMachine({ ...busyAccount, cdkFailsAt: 'sallyport-edge' });
  expect((await machine.run(deployCommand, ['--yes', '--new-token'])).code).toBe(1);
  machine.state.cdkFailsAt = undefined;
  const { out } = await machine.run(deployCommand, ['--yes']);
  expect(out).toContain('never showed its admin token');
  expect(tokensIn(out).map(hashOf)).toEqual([machine.state.adminHash]);
});

test('a destroyed deployment leaves no record, and the next first deploy shows its own token', async () => {
  const machine = openMachine(emptyAccount);
  await machine.run(deployCommand, ['--yes']);
  await machine.run(destroyCommand, ['--yes']);
  expect(machine.state.parameters).toEqual({});
  const { out } = await machine.run(deployCommand, ['--yes']);
  expect(tokensIn(out).map(hashOf)).toEqual([machine.state.adminHash]);
});

test('in a build server the token goes to Secrets Manager, and into no output or argument', async () => {
  const machine = openMachine(emptyAccount);
  const name = 'sallyport-admin-token/sallyport';
  for (const args of [[], ['--new-token']]) {
    const { code, out } = await machine.run(deployCommand, ['--yes', '--token-to-secret', ...args]);
    expect(code).toBe(0);
    expect(out).toContain(name);
    expect(tokensIn(`${out}${machine.calls.join()}`)).toEqual([]);
    expect(hashOf(machine.state.named[name] ?? '')).toBe(machine.state.adminHash);
  }
  await machine.run(destroyCommand, ['--yes']);
  expect(machine.state.named).toEqual({});
});
