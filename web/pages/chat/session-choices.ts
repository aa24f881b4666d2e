/** Choices for a new session, as the texts of its form; an empty one means the default. */

export type SessionChoices = {
  project: string;
  provider: string;
  model: string;
  flavor: string;
  template: string;
  runtime: string;
  approvals: string;
  thinking: string;
  agent: string;
  instructions: string;
  /** US dollars. */
  maxCostUsd: string;
  slice: SliceChoices;
};

/** Limits beside money, for the session and the agents it starts: each a whole number. */
export type SliceChoices = Record<SliceLimit, string>;

const sliceLimits = ['maxTotalTokens', 'maxToolCalls', 'maxSandboxSeconds', 'maxEgressBytes'] as const;
export type SliceLimit = (typeof sliceLimits)[number];

const costUsdMax = 100_000;

export const costProblem = (text: string): string | undefined => {
  const isSum = text.trim() === '' || (Number(text) >= 0 && Number(text) <= costUsdMax);
  return isSum ? undefined : `Enter a sum from 0 to ${costUsdMax}.`;
};

export const limitProblem = (text: string): string | undefined =>
  text.trim() === '' || (Number.isSafeInteger(Number(text)) && Number(text) >= 1)
    ? undefined
    : 'Enter a whole number from 1.';

export const sliceProblems = (slice: SliceChoices): Readonly<Partial<SliceChoices>> =>
  Object.fromEntries(
    sliceLimits.flatMap((name) => {
      const problem = limitProblem(slice[name]);
      return problem === undefined ? [] : [[name, problem]];
    }),
  );

/** The body for the choices that differ from the defaults. */
export const givenOf = ({ maxCostUsd, slice, ...choices }: SessionChoices) => {
  const limits = sliceLimits.filter((name) => slice[name].trim() !== '');
  return {
    ...Object.fromEntries(Object.entries(choices).filter(([, value]) => value !== '')),
    ...(maxCostUsd.trim() === '' ? {} : { maxCostUsd: Number(maxCostUsd) }),
    ...(limits.length === 0
      ? {}
      : { slice: Object.fromEntries(limits.map((name) => [name, Number(slice[name])])) }),
  };
};

/** One name with its value on each line. */
export type WrittenChoices = { labels: string; env: string };

export const noChoices = (): SessionChoices => ({
  ...{ project: '', provider: '', model: '', flavor: '', template: '', runtime: '', approvals: '' },
  ...{ thinking: '', agent: '', instructions: '', maxCostUsd: '' },
  slice: { maxTotalTokens: '', maxToolCalls: '', maxSandboxSeconds: '', maxEgressBytes: '' },
});

type NamedLines = {
  readonly values: Readonly<Record<string, string>>;
  /** The first line that names nothing, in words for a person. */
  readonly problem?: string;
};

/** Labels (`key:value`) or variables (`NAME=value`). Empty lines count for nothing. Spaces around a name are left out, those of a value stay. */
export const parseNamedLines = (text: string, sign: ':' | '='): NamedLines => {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const wrong = lines.find((line) => line.indexOf(sign) < 1);
  if (wrong !== undefined)
    return { values: {}, problem: `Line ${lines.indexOf(wrong) + 1} has no name before ${sign}` };
  const pairs = lines.map((line): readonly [string, string] => {
    const at = line.indexOf(sign);
    return [line.slice(0, at).trim(), line.slice(at + 1)];
  });
  return { values: Object.fromEntries(pairs) };
};
