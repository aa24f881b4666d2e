/** Usage of sessions, added up by the day on which they began, by model or by project. Pure. */
import type { Session } from '#sdk/routes.ts';

export const groupings = [
  { value: 'day', label: 'Day' },
  { value: 'model', label: 'Model' },
  { value: 'project', label: 'Project' },
] as const;
export type Grouping = (typeof groupings)[number]['value'];

export const groupingFrom = (text: unknown): Grouping =>
  groupings.find(({ value }) => value === text)?.value ?? 'day';

export type UsageGroup = {
  readonly name: string;
  readonly sessions: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
};

type Counted = Pick<Session, 'kind' | 'createdAt' | 'provider' | 'model' | 'project' | 'usage' | 'costUsd'>;

const nothing = { sessions: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };

export const totalOf = (sessions: readonly Counted[]): Omit<UsageGroup, 'name'> =>
  sessions.reduce(
    (sum, { usage, costUsd }) => ({
      sessions: sum.sessions + 1,
      inputTokens: sum.inputTokens + usage.inputTokens,
      outputTokens: sum.outputTokens + usage.outputTokens,
      costUsd: sum.costUsd + costUsd,
    }),
    nothing,
  );

export type Naming = {
  /** A day in the reader's zone, as `2026-11-25`. */
  readonly dayOf: (iso: string) => string;
  readonly projectName: (id: string) => string;
};

/** Sessions that ran code alone use no model. */
const modelOf = ({ kind, provider, model }: Counted): string =>
  kind === 'agent' ? `${provider} · ${model}` : 'No model';

/** Days from the newest; models and projects from the most expensive. */
export const usageGroups = (
  sessions: readonly Counted[],
  by: Grouping,
  { dayOf, projectName }: Naming,
): readonly UsageGroup[] => {
  const nameOf: Readonly<Record<Grouping, (session: Counted) => string>> = {
    day: ({ createdAt }) => dayOf(createdAt),
    model: modelOf,
    project: ({ project }) => projectName(project),
  };
  const groups = [...Map.groupBy(sessions, nameOf[by])].map(([name, its]) => ({ name, ...totalOf(its) }));
  return groups.toSorted((one, other) =>
    by === 'day' ? other.name.localeCompare(one.name) : other.costUsd - one.costUsd,
  );
};
