/**
 * Workspaces that are listed with their project: made beside their pointer, entered by sessions, deleted in two
 * steps. None is deleted while a session uses it, and no session enters a deleted one (WS2). The first step leaves the
 * second one due, so that no deletion is lost (SN3).
 */
import { GetCommand, TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { SessionId, WorkspaceId } from '#shared/domain/ids.ts';
import { deletionWaitMsMax } from '#shared/domain/limits.ts';
import { pinsFor, workspaceHolder } from '#shared/domain/pins.ts';
import type { Workspace } from '#shared/domain/sandbox.ts';
import { answersInWorkspace, type Session } from '#shared/domain/session.ts';
import type { FilesSource } from '#shared/domain/snapshot.ts';
import type { WorkspaceStore } from '#shared/ports/workspace-store.ts';
import { auditItem } from './audit-log.ts';
import { pinActions, sourceActions } from './pin-actions.ts';
import { ifProjectNotDeleted } from './project-not-deleted.ts';
import { pageOfProject } from './project-pages.ts';
import { endedStatuses, hasEnded, statusNames } from './session-conditions.ts';
import { dueValues, keys, namesIn, type Table } from './table.ts';
import { transact } from './transaction.ts';
import { type Change, workspaceUpdate } from './workspace-changes.ts';
import { workspaceFrom, workspaceItem } from './workspace-items.ts';

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;

const pointerOf = ({ project, createdAt, id }: Workspace) => keys.namedWorkspace(project, createdAt, id);

/** A new workspace, its pointer when it has a name, and its pins on the files it begins with. */
export const makeWorkspaceActions = (
  TableName: string,
  workspace: Workspace,
  source?: FilesSource,
): Actions => [
  {
    Put: { TableName, Item: workspaceItem(workspace), ConditionExpression: 'attribute_not_exists(pk)' },
  },
  ...(source === undefined ? [] : sourceActions(TableName, source)),
  ...pinActions(TableName, pinsFor(workspaceHolder(workspace.id), workspace.checkpoint), workspace.createdAt),
  ...(workspace.isNamed ? namedActions(TableName, workspace) : []),
];

/** Its entry in its project, unless that is deleted: the entry would never be removed (WS5). */
const namedActions = (TableName: string, workspace: Workspace): Actions => [
  { Put: { TableName, Item: pointerOf(workspace) } },
  ifProjectNotDeleted(TableName, workspace.project),
];

/** A session begins to use an existing workspace, unless that is being deleted. */
export const enterWorkspaceAction = (
  TableName: string,
  session: Session,
  after: SessionId | null | undefined,
): Actions[number] => workspaceUpdate(TableName, session.workspace, entered(session, after));

const entered = (session: Session, after: SessionId | null | undefined): Change => {
  const { id, project } = session;
  const answers = answersInWorkspace(session);
  const conditions = ['#project = :project', 'attribute_not_exists(deletedAt)'];
  if (after === null) conditions.push('attribute_not_exists(latestAgent)');
  else if (after !== undefined) conditions.push('latestAgent = :after');
  return {
    when: conditions.join(' AND '),
    set: `${answers ? 'SET latestAgent = :id ' : ''}ADD #users :ids`,
    values: {
      ':project': project,
      ':ids': new Set([id]),
      ...(answers ? { ':id': id } : {}),
      ...(after ? { ':after': after } : {}),
    },
  };
};

/** A session that was resumed since stays: its end came late. One in `error` takes no calls any more. */
export const leave =
  (table: Table): WorkspaceStore['leave'] =>
  async (id, session) => {
    const { client, name: TableName } = table;
    const left = { set: 'DELETE #users :session', values: { ':session': new Set([session]) } };
    const actions: Actions = [
      workspaceUpdate(TableName, id, left),
      {
        ConditionCheck: {
          TableName,
          Key: keys.session(session),
          ConditionExpression: `attribute_not_exists(pk) OR ${hasEnded} OR #status = :error`,
          ExpressionAttributeNames: statusNames,
          ExpressionAttributeValues: { ...endedStatuses, ':error': 'error' },
        },
      },
    ];
    if ((await transact(table, new TransactWriteCommand({ TransactItems: actions }))) !== 'done')
      return undefined;
    const { Item } = await client.send(
      new GetCommand({ TableName, Key: keys.workspace(id), ConsistentRead: true }),
    );
    return Item && workspaceFrom(Item);
  };

export const makeNamed =
  (table: Table): WorkspaceStore['makeNamed'] =>
  async (workspace) => {
    const TransactItems = makeWorkspaceActions(table.name, { ...workspace, isNamed: true });
    return (await transact(table, new TransactWriteCommand({ TransactItems }))) === 'done';
  };

export const listNamed =
  (table: Table): WorkspaceStore['listNamed'] =>
  async (project, page) => {
    const listing = { project, kind: 'WORKSPACE', keyOf: keys.workspace } as const;
    const { items, ...rest } = await pageOfProject(table, listing, page);
    return { workspaces: items.map(workspaceFrom), ...rest };
  };

export const markDeleted =
  (table: Table): WorkspaceStore['markDeleted'] =>
  async (workspace, at, audits) => {
    const { name: TableName } = table;
    const when = 'attribute_exists(isNamed) AND attribute_not_exists(#users)';
    const set = 'SET deletedAt = if_not_exists(deletedAt, :at)';
    const actions: Actions = [
      workspaceUpdate(TableName, workspace.id, { when, set, values: { ':at': at } }),
      { Delete: { TableName, Key: pointerOf(workspace) } },
      // Nothing else finds it again, should the caller die.
      remainsPut(TableName, workspace.id, at + deletionWaitMsMax),
      ...audits.map((row) => ({ Put: { TableName, Item: auditItem(row) } })),
    ];
    const result = await transact(table, new TransactWriteCommand({ TransactItems: actions }));
    return result === 'done' ? { ...workspace, deletedAt: workspace.deletedAt ?? at, users: [] } : undefined;
  };

/** The deletion of a workspace, which is due from then on until it is over. */
export const remainsPut = (TableName: string, id: WorkspaceId, at: number) => {
  const { ':duePk': duePk, ':dueAt': dueAt } = dueValues('remains', id, at);
  return { Put: { TableName, Item: { ...keys.remains(id), id, duePk, dueAt } } };
};

/** The condition for deleting a workspace: no session uses it, nothing runs in it, and it has no name or is marked. */
export const removable = {
  ConditionExpression:
    'attribute_not_exists(#users) AND (attribute_not_exists(#sandbox) OR #sandbox.#state = :stopped) AND (attribute_not_exists(isNamed) OR attribute_exists(deletedAt))',
  ExpressionAttributeNames: namesIn('#users #sandbox #state'),
  ExpressionAttributeValues: { ':stopped': 'stopped' },
};
