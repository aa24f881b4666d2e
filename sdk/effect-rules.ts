/**
 * Rules over effects as a line of text: a verdict, then its conditions, for example `approve within=src,docs removes=no files=20`.
 * Forms and command lines take it. Blanks, commas and percent signs of a path are percent-encoded.
 */

import type { Project } from './routes.ts';

export type EffectPolicy = NonNullable<Project['effects']>;
export type EffectRule = NonNullable<EffectPolicy['rules']>[number];

const verdicts: readonly string[] = ['approve', 'ask', 'refuse'] satisfies readonly EffectRule['verdict'][];

const lists = ['tools', 'within', 'touches'] as const;
const flags = { removes: 'removes', hosts: 'wantsHosts', succeeds: 'succeeds' } as const;
const limits = { files: 'filesMax', bytes: 'bytesMax' } as const;

const encoded = (text: string): string => text.replace(/[\s,%]/gu, encodeURIComponent);

export const effectRuleLine = (rule: EffectRule): string =>
  [
    rule.verdict,
    ...lists.flatMap((name) => {
      const values = rule[name];
      return values === undefined ? [] : [`${name}=${values.map(encoded).join(',')}`];
    }),
    ...Object.entries(flags).flatMap(([name, field]) =>
      rule[field] === undefined ? [] : [`${name}=${rule[field] ? 'yes' : 'no'}`],
    ),
    ...Object.entries(limits).flatMap(([name, field]) =>
      rule[field] === undefined ? [] : [`${name}=${rule[field]}`],
    ),
  ].join(' ');

/** The problem as a text, where the line is no rule. */
export const readEffectRule = (line: string): EffectRule | string => {
  const [verdict = '', ...conditions] = line.trim().split(/\s+/u);
  if (!verdicts.includes(verdict)) return `"${verdict}": begin with approve, ask or refuse`;
  const rule: Record<string, unknown> = { verdict };
  for (const condition of conditions) {
    const read = readCondition(condition);
    if (typeof read === 'string') return read;
    const [field, value] = read;
    if (field in rule) return `"${condition}": ${condition.split('=')[0]} is given twice`;
    rule[field] = value;
  }
  return rule as EffectRule;
};

const readCondition = (condition: string): readonly [string, unknown] | string => {
  const [, name = '', value = ''] = /^([a-z]+)=(.+)$/u.exec(condition) ?? [];
  const list = lists.find((known) => known === name);
  if (list !== undefined) return readList(list, value) ?? `"${condition}": a percent sign is written %25`;
  if (isNameOf(flags, name))
    return value === 'yes' || value === 'no'
      ? [flags[name], value === 'yes']
      : `"${condition}": ${name} is yes or no`;
  if (isNameOf(limits, name))
    return /^\d{1,15}$/u.test(value) ? [limits[name], Number(value)] : `"${condition}": ${name} is a number`;
  const known = [...lists, ...Object.keys(flags), ...Object.keys(limits)].join(', ');
  return `"${condition}": a condition is name=value with ${known}`;
};

const isNameOf = <Names extends object>(names: Names, name: string): name is string & keyof Names =>
  Object.hasOwn(names, name);

const readList = (name: string, value: string): readonly [string, readonly string[]] | undefined => {
  if (/%(?![\da-f]{2})/iu.test(value)) return undefined;
  const decode = (text: string): string => text.replace(/%(20|2c|25|09)/giu, decodeURIComponent);
  return [name, value.split(',').map(decode)];
};
