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
};

/** One name with its value on each line. */
export type WrittenChoices = { labels: string; env: string };

export const noChoices = (): SessionChoices => ({
  ...{ project: '', provider: '', model: '', flavor: '', template: '', runtime: '', approvals: '' },
  ...{ thinking: '', agent: '', instructions: '' },
});
