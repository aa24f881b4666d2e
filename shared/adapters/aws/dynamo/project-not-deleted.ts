/**
 * The condition under which a transaction makes something in a project: it is not deleted.
 *
 * A deletion marks the project before it lists its contents: it finds all that was made before, and nothing is made after.
 */
import type { ProjectId } from '#shared/domain/ids.ts';
import type { Actions } from './slot-moves.ts';
import { type Cancellation, keys } from './table.ts';

export const ifProjectNotDeleted = (TableName: string, project: ProjectId): Actions[number] => ({
  ConditionCheck: {
    TableName,
    Key: keys.project(project),
    ConditionExpression: 'attribute_not_exists(deletedAt)',
  },
});

/** True when it was this condition of the actions that failed. */
export const isInDeletedProject = (actions: Actions, reasons: readonly Cancellation[]): boolean =>
  reasons.some(
    ({ code }, index) => code === 'ConditionalCheckFailed' && actions[index]?.ConditionCheck !== undefined,
  );
