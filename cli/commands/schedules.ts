/** `schedules`: creates, changes, triggers and deletes scheduled prompts, and shows their run history. */

import { readPages } from '#sdk/pages.ts';
import type { BodyOf } from '#sdk/route.ts';
import { api, type Schedule, type ScheduleRun } from '#sdk/routes.ts';
import { historyRowsMax } from '#shared/domain/schedule/limits.ts';
import {
  byId,
  type Call,
  type Command,
  deleted,
  flag,
  given,
  idOf,
  listing,
  none,
  oneId,
  oneName,
  value,
  values,
  wholeNumber,
} from '../runtime/command.ts';
import { type Cell, factLines, tableLines } from '../runtime/output.ts';

type Target = Schedule['targets'][number];

const targetText = ({ projectId, workspaceId }: Target): string =>
  workspaceId === undefined ? projectId : `${projectId}/${workspaceId}`;

const facts = (schedule: Schedule): readonly string[] =>
  factLines([
    ['id', schedule.id],
    ['name', schedule.name],
    ['cron (UTC)', schedule.cronExpr],
    ['enabled', schedule.enabled ? 'yes' : 'no'],
    ['disabled because', schedule.disabledReason],
    ['next run', schedule.nextRunAt],
    ['last run', schedule.lastRunAt],
    ['overlap', schedule.overlapBehavior],
    ['sessions', schedule.sessionBehavior],
    ...schedule.targets.map((target) => ['target', targetText(target)] as const),
    ['prompt', schedule.prompt],
  ]);

const list = async (call: Call): Promise<undefined> => {
  const project = call.text('project');
  const schedules = await readPages(
    (after) => call.request(api.listSchedules, { query: { project, after } }),
    (page) => page.schedules,
  );
  call.output.result({ schedules }, () =>
    tableLines(
      ['ID', 'NAME', 'CRON', 'ENABLED', 'NEXT RUN'],
      schedules.map((one) => [one.id, one.name, one.cronExpr, one.enabled ? 'yes' : 'no', one.nextRunAt]),
      'No schedules. Create one with `sallyport schedules create`.',
    ),
  );
};

const get = async (call: Call): Promise<undefined> => {
  const schedule = await call.request(api.showSchedule, byId(call));
  call.output.result(schedule, () => facts(schedule));
};

/** Each is `<project>` or `<project>/<workspace>`. */
const targetsOf = (call: Call): readonly Target[] | undefined => {
  const targets = call.list('target').map((text) => {
    const [projectId = '', workspaceId] = text.split('/');
    return { projectId, ...(workspaceId === undefined ? {} : { workspaceId }) };
  });
  return targets.length === 0 ? undefined : targets;
};

type ScheduleChange = BodyOf<typeof api.changeSchedule>;

const optionsOf = (call: Call): ScheduleChange =>
  given({
    cronExpr: call.text('cron'),
    prompt: call.text('prompt'),
    targets: targetsOf(call),
    overlapBehavior: call.text('overlap'),
    sessionBehavior: call.text('sessions'),
  });

const create = async (call: Call): Promise<undefined> => {
  const enabled = call.isSet('disabled') ? false : undefined;
  const body = given<BodyOf<typeof api.makeSchedule>>({ ...optionsOf(call), name: idOf(call), enabled });
  const made = await call.request(api.makeSchedule, { body });
  call.output.result(made, () => [made.id]);
};

const change = async (call: Call, body: ScheduleChange): Promise<undefined> => {
  const changed = await call.request(api.changeSchedule, { ...byId(call), body });
  call.output.result(changed, () => facts(changed));
};
const update = (call: Call) => change(call, given({ name: call.text('name'), ...optionsOf(call) }));
const enabling = (enabled: boolean) => (call: Call) => change(call, { enabled });

const remove = async (call: Call): Promise<undefined> => {
  const answer = await call.request(api.deleteSchedule, byId(call));
  call.output.result(deleted(answer, { id: idOf(call) }), () => [`Deleted ${idOf(call)}.`]);
};

const runStatus = ({ status, late, needsApproval }: ScheduleRun): string =>
  `${status}${needsApproval === true ? ', needs approval' : ''}${late === true ? ' (late)' : ''}`;

const runRow = (run: ScheduleRun): readonly Cell[] => [
  run.runAt,
  runStatus(run),
  run.trigger,
  run.durationMs,
  run.sessionId,
  run.error ?? run.output,
];
const runLines = (runs: readonly ScheduleRun[]): readonly string[] =>
  tableLines(['TIME', 'STATUS', 'TRIGGER', 'MS', 'SESSION', 'OUTPUT'], runs.map(runRow));

const trigger = async (call: Call): Promise<undefined> => {
  const answer = await call.request(api.triggerSchedule, byId(call));
  call.output.result(answer, () => runLines(answer.runs));
};

const history = async (call: Call): Promise<undefined> => {
  const limit = wholeNumber(call.text('limit'), 'limit');
  const page = await call.request(api.scheduleHistory, { ...byId(call), query: { limit } });
  call.output.result(page, () => (page.history.length === 0 ? ['No runs yet.'] : runLines(page.history)));
  if (page.next !== undefined && !call.output.isJson)
    call.output.note(`Older runs exist; --limit shows at most ${historyRowsMax}.`);
};

const options = {
  cron: value,
  prompt: value,
  target: values,
  overlap: value,
  sessions: value,
} as const;
const optionUsage =
  '[--target <project>[/<workspace>]]… [--overlap skip|queue|parallel] [--sessions resume|new]';
const named = { usage: '<id>', positionals: oneId };

export const scheduleCommands: readonly Command[] = [
  ...listing('schedules', {
    usage: '[--project <id>]',
    summary: 'List schedules',
    options: { project: value },
    positionals: none,
    run: list,
  }),
  {
    name: 'schedules create',
    usage: `<name> --cron <expression> --prompt <text> ${optionUsage} [--disabled]`,
    summary: 'Run a prompt on a schedule',
    details: ['The cron expression has five fields, in UTC: minute, hour, day of month, month, day of week.'],
    options: { ...options, disabled: flag },
    positionals: oneName,
    run: create,
  },
  { name: 'schedules get', ...named, summary: 'Show one schedule', run: get },
  {
    name: 'schedules update',
    usage: `<id> [--name <name>] [--cron <expression>] [--prompt <text>] ${optionUsage}`,
    summary: 'Change a schedule; --target replaces all targets',
    options: { ...options, name: value },
    positionals: oneId,
    run: update,
  },
  { name: 'schedules enable', ...named, summary: 'Enable a schedule', run: enabling(true) },
  {
    name: 'schedules disable',
    ...named,
    summary: 'Disable a schedule; it can still be triggered',
    run: enabling(false),
  },
  { name: 'schedules delete', ...named, summary: 'Delete a schedule', run: remove },
  { name: 'schedules trigger', ...named, summary: 'Run a schedule now', run: trigger },
  {
    name: 'schedules history',
    usage: '<id> [--limit <n>]',
    summary: 'Show the runs of a schedule, newest first',
    options: { limit: value },
    positionals: oneId,
    run: history,
  },
];
