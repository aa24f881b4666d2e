/**
 * The changes that a schedule's write makes beside the schedule itself: its prompt, where it is long, its entry
 * in each project it runs in, beside the counter that makes the limit hard, and the pins of removed targets.
 */
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { ProjectId } from '#shared/domain/ids.ts';
import {
  type Schedule,
  type ScheduleId,
  type ScheduleTarget,
  targetKey,
} from '#shared/domain/schedule/schedule.ts';
import { ifProjectNotDeleted } from './project-not-deleted.ts';
import { isLongPrompt, promptItem } from './schedule-items.ts';
import { keys } from './table.ts';

export type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;

export const isNew = 'attribute_not_exists(pk)';

export const projectsOf = ({ targets, isDeleted }: Schedule): readonly ProjectId[] =>
  isDeleted ? [] : [...new Set(targets.map(({ project }) => project))];

/**
 * The condition under which an item is written beside a schedule: the schedule is not deleted, and has the target if one is
 * named. An item that is written later would be found by no clean-up.
 */
export const unlessDeleted = (
  TableName: string,
  id: ScheduleId,
  target?: ScheduleTarget,
): Actions[number] => {
  const stands = 'attribute_exists(pk) AND attribute_not_exists(isDeleted)';
  return {
    ConditionCheck: {
      TableName,
      Key: keys.schedule(id),
      ...(target === undefined
        ? { ConditionExpression: stands }
        : {
            ConditionExpression: `${stands} AND contains(targets, :target)`,
            ExpressionAttributeValues: { ':target': target },
          }),
    },
  };
};

const counting = (TableName: string, project: ProjectId, step: number) => ({
  TableName,
  Key: keys.scheduleCount(project),
  UpdateExpression: 'ADD schedules :step',
  ExpressionAttributeValues: { ':step': step },
});

export const enter = (TableName: string, project: ProjectId, { id, schedulesMax }: Entry): Actions => {
  const count = counting(TableName, project, 1);
  return [
    ifProjectNotDeleted(TableName, project),
    { Put: { TableName, Item: { ...keys.scheduleOf(project, id) }, ConditionExpression: isNew } },
    {
      Update: {
        ...count,
        ConditionExpression: 'attribute_not_exists(schedules) OR schedules < :max',
        ExpressionAttributeValues: { ...count.ExpressionAttributeValues, ':max': schedulesMax },
      },
    },
  ];
};

type Entry = { readonly id: ScheduleId; readonly schedulesMax: number };

export const promptChange = (TableName: string, read: Schedule, next: Schedule): Actions => {
  if (read.prompt === next.prompt) return [];
  if (isLongPrompt(next)) return [{ Put: { TableName, Item: promptItem(next) } }];
  return isLongPrompt(read) ? [{ Delete: { TableName, Key: keys.schedulePrompt(next.id) } }] : [];
};

type SlotChange = { readonly read: Schedule; readonly next: Schedule; readonly schedulesMax: number };

/** Projects it enters and leaves, and pins of removed targets. */
export const slotChange = (TableName: string, { read, next, schedulesMax }: SlotChange): Actions => {
  const { id } = next;
  const [before, after] = [projectsOf(read), projectsOf(next)];
  const entered = after.filter((project) => !before.includes(project));
  const left = before.filter((project) => !after.includes(project));
  const kept = new Set(next.targets.map(targetKey));
  const unpinned = read.targets.map(targetKey).filter((key) => !kept.has(key));
  return [
    ...entered.flatMap((project) => enter(TableName, project, { id, schedulesMax })),
    ...left.flatMap(
      (project): Actions => [
        { Delete: { TableName, Key: keys.scheduleOf(project, id) } },
        { Update: counting(TableName, project, -1) },
      ],
    ),
    ...unpinned.map((key) => ({ Delete: { TableName, Key: keys.schedulePin(id, key) } })),
  ];
};
