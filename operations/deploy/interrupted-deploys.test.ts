/**
 * Deploys that are interrupted again and again: at any call, before its effect or after it, by a lost answer or for good, first ones,
 * upgrades and replacements of the token. In any order, the deploy that ends shows the token that works, unless one before it did.
 */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { deployCommand } from './deploy.ts';
import { type Broken, busyAccount, emptyAccount, openMachine } from './fixtures/machine.ts';

const installed = ['aws', 'cdk', 'docker', 'npm'];
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');
const tokensIn = (text: string): readonly string[] => text.match(/sp_[0-9a-f]{64}/g) ?? [];

type Effect = 'before' | 'after';
/** A call of a deploy that breaks; `forGood`: no later call of this deploy is answered. */
type Break = { readonly at: number; readonly effect: Effect; readonly forGood: boolean };

const brokenAt =
  ({ at, effect, forGood }: Break): Broken =>
  (number) => {
    if (number === at) return effect;
    return forGood && number > at ? 'before' : undefined;
  };

/** Deploys with these breaks, one after the other, and then without any. */
const deployAll = async (account: object, breaks: readonly Break[], args: readonly string[]) => {
  let breaksNow: Broken = () => undefined;
  let before = 0;
  const machine = openMachine(account, installed, (number) => breaksNow(number - before));
  const shown: string[] = [];
  let code = 0;
  for (const one of [...breaks, undefined]) {
    before = machine.calls.length;
    breaksNow = one === undefined ? () => undefined : brokenAt(one);
    const ran = await machine.run(deployCommand, ['--yes', '--no-check', ...args]);
    shown.push(...tokensIn(ran.out + ran.error));
    code = ran.code;
  }
  return { code, shown, live: machine.state.adminHash, record: machine.state.parameters };
};

const callsOf = async (account: object, args: readonly string[]): Promise<number> => {
  const machine = openMachine(account, installed);
  await machine.run(deployCommand, ['--yes', '--no-check', ...args]);
  return machine.calls.length;
};

/** A fixed sequence for a number: the same breaks at each run. */
const sequence = (seed: number) => {
  let state = seed;
  return (bound: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
};

const breaksOf = (seed: number, calls: number): readonly Break[] => {
  const next = sequence(seed);
  return Array.from({ length: 2 + next(2) }, () => ({
    at: 1 + next(calls),
    effect: next(2) === 0 ? ('before' as const) : ('after' as const),
    forGood: next(3) === 0,
  }));
};

const known = { ...busyAccount, adminHash: hashOf('known') };
const orders = 60;

test.each([
  ['a first deploy', emptyAccount, []],
  ['a replacement of the token', known, ['--new-token']],
] as const)(
  '%s that is interrupted twice and more ends with a token that was shown and works',
  async (_, account, args) => {
    const calls = await callsOf(account, args);
    expect(calls).toBeGreaterThan(10);
    for (let seed = 1; seed <= orders; seed += 1) {
      const breaks = breaksOf(seed, calls);
      const { code, shown, live } = await deployAll(account, breaks, args);
      expect([breaks, code, shown.map(hashOf).at(-1)]).toEqual([breaks, 0, live]);
      expect(new Set(shown).size).toBe(shown.length);
    }
  },
);

test('an upgrade that is interrupted anywhere, twice and more, leaves the token alone', async () => {
  const calls = await callsOf(known, []);
  for (let seed = 1; seed <= orders; seed += 1) {
    const breaks = breaksOf(seed, calls);
    const { code, shown, live } = await deployAll(known, breaks, []);
    expect([breaks, code, shown, live]).toEqual([breaks, 0, [], hashOf('known')]);
  }
});

test('a first deploy that is interrupted at each pair of calls ends with one record of the token, and one of the release', async () => {
  const calls = await callsOf(emptyAccount, []);
  for (let first = 1; first <= calls; first += 1)
    for (let second = 1; second <= calls; second += 1) {
      const effect = (first + second) % 2 === 0 ? 'before' : 'after';
      const breaks = [
        { at: first, effect, forGood: true },
        { at: second, effect, forGood: true },
      ] as const;
      const { code, shown, live, record } = await deployAll(emptyAccount, breaks, []);
      expect([breaks, code, hashOf(shown.at(-1) ?? '')]).toEqual([breaks, 0, live]);
      expect(record).toEqual({
        '/sallyport/sallyport/admin-token': `shown ${live}`,
        '/sallyport/sallyport/release': expect.stringMatching(/^\{"version":"[\d.]+"\W/),
      });
    }
});
