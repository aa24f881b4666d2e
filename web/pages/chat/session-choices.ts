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
};

const costUsdMax = 100_000;

export const costProblem = (text: string): string | undefined => {
  const isSum = text.trim() === '' || (Number(text) >= 0 && Number(text) <= costUsdMax);
  return isSum ? undefined : `Enter a sum from 0 to ${costUsdMax}.`;
};

/** The body for the choices that differ from the defaults. */
export const givenOf = ({ maxCostUsd, ...choices }: SessionChoices) => ({
  ...Object.fromEntries(Object.entries(choices).filter(([, value]) => value !== '')),
  ...(maxCostUsd.trim() === '' ? {} : { maxCostUsd: Number(maxCostUsd) }),
});

/** One name with its value on each line. */
export type WrittenChoices = { labels: string; env: string };

export const noChoices = (): SessionChoices => ({
  ...{ project: '', provider: '', model: '', flavor: '', template: '', runtime: '', approvals: '' },
  ...{ thinking: '', agent: '', instructions: '', maxCostUsd: '' },
});
