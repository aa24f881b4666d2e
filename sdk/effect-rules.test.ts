import { expect, test } from 'vitest';
import { type EffectRule, effectRuleLine, readEffectRule } from './effect-rules.ts';

test.each<[line: string, rule: EffectRule]>([
  ['approve', { verdict: 'approve' }],
  [
    'approve within=src,docs/a.md removes=no hosts=no succeeds=yes files=20 bytes=100000',
    {
      verdict: 'approve',
      within: ['src', 'docs/a.md'],
      removes: false,
      wantsHosts: false,
      succeeds: true,
      filesMax: 20,
      bytesMax: 100_000,
    },
  ],
  ['refuse tools=write_file touches=.git', { verdict: 'refuse', tools: ['write_file'], touches: ['.git'] }],
  ['ask within=a%20b%2Cc%25d', { verdict: 'ask', within: ['a b,c%d'] }],
])('the line %j is a rule, and the rule is the line', (line, rule) => {
  expect(readEffectRule(line)).toEqual(rule);
  expect(effectRuleLine(rule)).toBe(line);
});

test.each([
  ['', '"": begin with approve, ask or refuse'],
  ['allow within=src', '"allow": begin with approve, ask or refuse'],
  ['approve src', '"src": a condition is name=value'],
  ['approve inside=src', '"inside=src": a condition is name=value'],
  ['approve removes=false', '"removes=false": removes is yes or no'],
  ['approve files=-1', '"files=-1": files is a number'],
  ['approve files=1 files=2', '"files=2": files is given twice'],
  ['approve constructor=1', '"constructor=1": a condition'],
  ['approve within=100%', '"within=100%": a percent sign is written %25'],
])('the line %j is refused', (line, problem) => {
  expect(readEffectRule(line)).toEqual(expect.stringContaining(problem));
});
