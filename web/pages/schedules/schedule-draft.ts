/** Draft of the schedule form: values, validation and request body. Pure. */
import type { Schedule } from '#sdk/routes.ts';
import { changedFields } from '../../api/changed-fields.ts';
import { readCron } from './cron-labels.ts';

export type TargetDraft = { projectId: string; workspaceId: string };

export type ScheduleDraft = {
  name: string;
  cronExpr: string;
  prompt: string;
  targets: readonly TargetDraft[];
  enabled: boolean;
  overlapBehavior: Schedule['overlapBehavior'];
  sessionBehavior: Schedule['sessionBehavior'];
};

export const targetsMax = 10;
const promptBytesMax = 100 * 1024;

export const draftOf = (schedule: Schedule | undefined, project: string): ScheduleDraft => ({
  name: schedule?.name ?? '',
  cronExpr: schedule?.cronExpr ?? '0 9 * * 1-5',
  prompt: schedule?.prompt ?? '',
  targets: schedule?.targets.map(({ projectId, workspaceId = '' }) => ({ projectId, workspaceId })) ?? [
    { projectId: project, workspaceId: '' },
  ],
  enabled: schedule?.enabled ?? true,
  overlapBehavior: schedule?.overlapBehavior ?? 'skip',
  sessionBehavior: schedule?.sessionBehavior ?? 'resume',
});

export type DraftProblems = Partial<Record<keyof ScheduleDraft, string>>;

export const problemsOf = (draft: ScheduleDraft): DraftProblems => {
  const reading = readCron(draft.cronExpr);
  const keys = draft.targets.map(({ projectId, workspaceId }) => `${projectId}/${workspaceId}`);
  return {
    ...(draft.name.trim() === '' ? { name: 'Enter a name.' } : {}),
    ...(reading.ok ? {} : { cronExpr: reading.problem }),
    ...promptProblem(draft.prompt),
    ...(new Set(keys).size < keys.length ? { targets: 'Two targets are the same.' } : {}),
  };
};

const promptProblem = (prompt: string): DraftProblems => {
  if (prompt.trim() === '') return { prompt: 'Enter a prompt.' };
  const bytes = new TextEncoder().encode(prompt).length;
  return bytes > promptBytesMax ? { prompt: 'The limit is 100 KB.' } : {};
};

export const bodyOf = ({ targets, cronExpr, ...draft }: ScheduleDraft) => ({
  ...draft,
  name: draft.name.trim(),
  cronExpr: cronExpr.trim(),
  targets: targets.map(({ projectId, workspaceId }) => ({
    projectId,
    ...(workspaceId === '' ? {} : { workspaceId }),
  })),
});

export const changeOf = (before: ScheduleDraft, after: ScheduleDraft) =>
  changedFields(bodyOf(before), bodyOf(after));

/** Options with their explanations. */
export const overlapChoices = [
  { value: 'skip', label: 'Skip the new run', about: 'The history lists the skipped run with its reason.' },
  {
    value: 'queue',
    label: 'Queue the new run',
    about: 'It starts when the previous run ends, up to a day later.',
  },
  { value: 'parallel', label: 'Run both', about: 'The new run gets its own session.' },
] as const;

export const sessionChoices = [
  {
    value: 'resume',
    label: 'Continue one session',
    about:
      'Each run is the next message of one conversation: the agent remembers earlier runs and has its files.',
  },
  {
    value: 'new',
    label: 'New session for each run',
    about: 'Each run starts with an empty conversation in the same workspace.',
  },
] as const;

export const presets = [
  { label: 'Every 15 minutes', cronExpr: '*/15 * * * *' },
  { label: 'Hourly', cronExpr: '0 * * * *' },
  { label: 'Weekdays at 9', cronExpr: '0 9 * * 1-5' },
  { label: 'Daily at midnight', cronExpr: '0 0 * * *' },
  { label: 'Mondays', cronExpr: '0 9 * * 1' },
  { label: 'Monthly', cronExpr: '0 9 1 * *' },
] as const;
