/** `schedule`: prompts that are sent to agents by a cron expression; created, changed, triggered, read. */
import {
  createSchedule,
  removeSchedule,
  triggerSchedule,
  updateSchedule,
} from '#shared/application/schedule/manage-schedules.ts';
import { getSchedule, listSchedules, scheduleHistory } from '#shared/application/schedule/read-schedules.ts';
import { listedView, scheduleView } from '#shared/contracts/rest/schedule-view.ts';
import {
  createScheduleArguments,
  historyArguments,
  historyResult,
  listSchedulesArguments,
  listSchedulesResult,
  oneScheduleArguments,
  runToolView,
  scheduleResult,
  scheduleToolView,
  toolNames,
  triggerResult,
  updateScheduleArguments,
} from '#shared/contracts/tools/schedule-tools.ts';
import { pageItemsMax } from '#shared/domain/limits.ts';
import type { ScheduleState } from '#shared/domain/schedule/next-step.ts';
import { defineAction, defineActionTool } from '../action-tool.ts';

type Said = {
  readonly name?: string | undefined;
  readonly cron_expr?: string | undefined;
  readonly prompt?: string | undefined;
  readonly targets?: readonly object[] | undefined;
  readonly enabled?: boolean | undefined;
  readonly overlap_behavior?: string | undefined;
  readonly session_behavior?: string | undefined;
};

const input = ({ name, cron_expr: cron, prompt, targets, enabled, ...behavior }: Said) => ({
  options: {
    name,
    cron,
    prompt,
    targets,
    enabled,
    overlap: behavior.overlap_behavior,
    sessions: behavior.session_behavior,
  },
  names: toolNames,
});

const view = (state: Pick<ScheduleState, 'schedule' | 'pins'>) => scheduleToolView(scheduleView(state));

const create = defineAction({
  needs: 'own:write',
  input: createScheduleArguments,
  output: scheduleResult,
  run: async (said, { ports, principal }) => view(await createSchedule(ports, principal, input(said))),
});

const list = defineAction({
  needs: 'own:read',
  input: listSchedulesArguments,
  output: listSchedulesResult,
  run: async ({ project_id: project, after }, { ports, principal }) => {
    const { schedules, next } = await listSchedules(ports, principal, {
      project,
      after,
      itemsMax: pageItemsMax,
    });
    const shown = schedules.map((schedule) => scheduleToolView(listedView(schedule)));
    return { schedules: shown, ...(next === undefined ? {} : { next }) };
  },
});

const get = defineAction({
  needs: 'own:read',
  input: oneScheduleArguments,
  output: scheduleResult,
  run: async ({ schedule_id: id }, { ports, principal }) => view(await getSchedule(ports, principal, id)),
});

const update = defineAction({
  needs: 'own:write',
  input: updateScheduleArguments,
  output: scheduleResult,
  run: async ({ schedule_id: id, ...said }, { ports, principal }) =>
    view(await updateSchedule(ports, principal, { id, ...input(said) })),
});

const remove = defineAction({
  needs: 'own:write',
  input: oneScheduleArguments,
  output: scheduleResult,
  run: async ({ schedule_id: id }, { ports, principal }) => {
    const schedule = await removeSchedule(ports, principal, id);
    return view({ schedule, pins: new Map() });
  },
});

const trigger = defineAction({
  needs: 'own:write',
  input: oneScheduleArguments,
  output: triggerResult,
  run: async ({ schedule_id: id }, { ports, principal }) => {
    const runs = await triggerSchedule(ports, principal, id);
    return { id, runs: runs.map(runToolView) };
  },
});

const history = defineAction({
  needs: 'own:read',
  input: historyArguments,
  output: historyResult,
  run: async ({ schedule_id: id, limit: itemsMax, after }, { ports, principal }) => {
    const { runs, next } = await scheduleHistory(ports, principal, { id, after, itemsMax });
    return { history: runs.map(runToolView), ...(next === undefined ? {} : { next }) };
  },
});

export const schedule = defineActionTool({
  name: 'schedule',
  description:
    'Manages schedules. A schedule sends a prompt to an agent at the times of its cron expression.',
  actions: { create, list, get, update, delete: remove, trigger, history },
  annotations: { title: 'Manage schedules', destructiveHint: true, openWorldHint: true },
});
