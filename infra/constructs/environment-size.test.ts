import { Aws, Lazy } from 'aws-cdk-lib';
import { describe, expect, test } from 'vitest';
import { synthesise } from '../stacks/synthesise.ts';
import { checkEnvironmentSize } from './environment-size.ts';

const sizeOf = (variables: Readonly<Record<string, string>>): number => {
  const filler = 5000;
  try {
    checkEnvironmentSize('api', { ...variables, FILLER: 'f'.repeat(filler) });
  } catch (error) {
    const [, bytes] = /come to (\d+) bytes/.exec(String(error)) ?? [];
    return Number(bytes) - `"FILLER":"",`.length - filler;
  }
  return Number.NaN;
};

describe('the variables of a function', () => {
  test('count as the text of one object, with the backslashes of quotes', () => {
    expect(sizeOf({ NAME: 'value' })).toBe('"NAME":"value",'.length);
    expect(sizeOf({ NAME: '{"a":1}' })).toBe('"NAME":"{\\"a\\":1}",'.length);
    expect(sizeOf({ NAME: 'é' })).toBe('"NAME":"",'.length + 2);
  });

  test('count a name that CloudFormation makes as 80 bytes, beside the text around it', () => {
    const made = Lazy.string({ produce: () => 'later' });
    expect(sizeOf({ NAME: `https://${made}.${Aws.REGION}/ws` })).toBe('"NAME":"https://./ws",'.length + 160);
  });

  test('are refused above 4 KB with the longest of them', () => {
    const prices = 'p'.repeat(2000);
    checkEnvironmentSize('relay', { A: prices, B: prices });
    expect(() => checkEnvironmentSize('relay', { A: prices, B: prices, C: 'c'.repeat(90), D: 'd' })).toThrow(
      'infra/settings.ts: the variables of relay come to 4119 bytes, and Lambda takes 4096 in all; the longest: A 2007, B 2007, C 97',
    );
  });
});

test('a stage whose settings are too long for a function is refused before anything is deployed', () => {
  const allowed = Array.from({ length: 200 }, (_, index) => `host-${index}.example.com`).join(',');
  expect(() => synthesise({ settings: { variables: { EGRESS_ALLOW: allowed } } })).toThrow(
    /EGRESS_ALLOW \d{4}/,
  );
});
