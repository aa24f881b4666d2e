/** The validation of a schedule: each field is decided by itself, and a refusal names the field and what is allowed. */
import { canonicalUuid, isUuid, type ProjectId, type WorkspaceId } from '../ids.ts';
import { utf8Bytes } from '../text.ts';
import { isPlainName, plainNameRule } from '../visible-text.ts';
import { decodeCron } from './cron.ts';
import { scheduleNameCharactersMax, schedulePromptBytesMax, scheduleTargetsMax } from './limits.ts';
import {
  type OverlapBehavior,
  overlapBehaviors,
  type Schedule,
  type ScheduleTarget,
  type SessionBehavior,
  sessionBehaviors,
  targetKey,
} from './schedule.ts';

/** The fields as a client sent them; undefined: not sent. */
export type ScheduleOptions = {
  readonly name?: unknown;
  readonly cron?: unknown;
  readonly prompt?: unknown;
  readonly targets?: unknown;
  readonly enabled?: unknown;
  readonly overlap?: unknown;
  readonly sessions?: unknown;
};

/** The client's names of the fields, for the text of a refusal. */
export type FieldNames = {
  readonly cron: string;
  readonly overlap: string;
  readonly sessions: string;
  readonly project: string;
  readonly workspace: string;
};

export type ScheduleFields = Pick<
  Schedule,
  'name' | 'cron' | 'prompt' | 'targets' | 'isEnabled' | 'overlap' | 'sessions'
>;

type ValidSchedule =
  | { readonly ok: true; readonly fields: Partial<ScheduleFields> }
  | { readonly ok: false; readonly problem: string };

type Field<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

const valid = <T>(value: T): Field<T> => ({ ok: true, value });
const refused = (problem: string): { readonly ok: false; readonly problem: string } => ({
  ok: false,
  problem,
});

/** The fields that were sent, or the error of the first bad one. */
export const validateSchedule = (request: ScheduleOptions, names: FieldNames): ValidSchedule => {
  const decided = {
    name: said(request.name, decodeName),
    cron: said(request.cron, (value) => decodeCronField(value, names)),
    prompt: said(request.prompt, decodePrompt),
    targets: said(request.targets, (value) => decodeTargets(value, names)),
    isEnabled: said(request.enabled, decodeEnabled),
    overlap: said(request.overlap, (value) =>
      decodeOneOf<OverlapBehavior>(names.overlap, overlapBehaviors, value),
    ),
    sessions: said(request.sessions, (value) =>
      decodeOneOf<SessionBehavior>(names.sessions, sessionBehaviors, value),
    ),
  };
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(decided)) {
    if (field === undefined) continue;
    if (!field.ok) return field;
    fields[name] = field.value;
  }
  return { ok: true, fields };
};

/** The first required field that a new schedule lacks; the rest have defaults. */
export const missingField = (fields: Partial<ScheduleFields>, names: FieldNames): string | undefined => {
  if (fields.name === undefined) return 'name is required';
  if (fields.cron === undefined) return `${names.cron} is required`;
  return fields.prompt === undefined ? 'prompt is required' : undefined;
};

const said = <T>(value: unknown, decode: (value: unknown) => Field<T>): Field<T> | undefined =>
  value === undefined ? undefined : decode(value);

const decodeName = (value: unknown): Field<string> => {
  if (typeof value !== 'string' || value.trim() === '' || value.length > scheduleNameCharactersMax)
    return refused(`name: a text of 1 to ${scheduleNameCharactersMax} characters`);
  return isPlainName(value) ? valid(value) : refused(`name: ${plainNameRule}`);
};

const decodeCronField = (value: unknown, names: FieldNames): Field<string> => {
  if (typeof value !== 'string') return refused(`${names.cron}: a text`);
  const decoded = decodeCron(value);
  return decoded.ok ? valid(value) : refused(`${names.cron}: ${decoded.problem}`);
};

const decodePrompt = (value: unknown): Field<string> =>
  typeof value === 'string' && value.trim() !== '' && utf8Bytes(value) <= schedulePromptBytesMax
    ? valid(value)
    : refused(`prompt: a text of 1 to ${schedulePromptBytesMax} bytes`);

const decodeEnabled = (value: unknown): Field<boolean> =>
  typeof value === 'boolean' ? valid(value) : refused('enabled: true or false');

const decodeOneOf = <T extends string>(name: string, allowed: readonly T[], value: unknown): Field<T> => {
  const known = allowed.find((one) => one === value);
  return known === undefined ? refused(`${name}: use one of ${allowed.join(', ')}`) : valid(known);
};

const decodeTargets = (value: unknown, names: FieldNames): Field<readonly ScheduleTarget[]> => {
  if (!Array.isArray(value) || value.length === 0 || value.length > scheduleTargetsMax)
    return refused(`targets: a list of 1 to ${scheduleTargetsMax}`);
  const targets: ScheduleTarget[] = [];
  for (const [index, entry] of value.entries()) {
    const target = decodeTarget(entry, `targets.${index}`, names);
    if (!target.ok) return target;
    targets.push(target.value);
  }
  const keys = targets.map(targetKey);
  const twice = keys.findIndex((key, index) => keys.indexOf(key) < index);
  return twice < 0 ? valid(targets) : refused(`targets.${twice}: the same as an earlier one`);
};

const givenId = (value: unknown): unknown => (typeof value === 'string' ? canonicalUuid(value) : value);

const decodeTarget = (entry: unknown, path: string, names: FieldNames): Field<ScheduleTarget> => {
  if (typeof entry !== 'object' || entry === null)
    return refused(`${path}: an object with ${names.project}, and ${names.workspace} if you like`);
  const project = givenId(Reflect.get(entry, names.project));
  const workspace = givenId(Reflect.get(entry, names.workspace) ?? undefined);
  if (typeof project !== 'string' || !isUuid(project))
    return refused(`${path}.${names.project}: the id of a project`);
  if (workspace === undefined) return valid({ project: project as ProjectId });
  if (typeof workspace !== 'string' || !isUuid(workspace))
    return refused(`${path}.${names.workspace}: the id of a workspace`);
  return valid({ project: project as ProjectId, workspace: workspace as WorkspaceId });
};
