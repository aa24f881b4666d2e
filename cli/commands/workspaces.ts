/** `workspaces`: lists, creates, shows and deletes the named workspaces of a project. */

import { readPages } from '#sdk/pages.ts';
import type { BodyOf } from '#sdk/route.ts';
import { api, type Workspace } from '#sdk/routes.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import {
  type Call,
  type Command,
  deleted,
  given,
  idOf,
  listing,
  none,
  oneId,
  value,
} from '../runtime/command.ts';
import { factLines, tableLines } from '../runtime/output.ts';
import { projectOf } from './projects.ts';

const paramsOf = async (call: Call, client: Sallyport) => ({
  id: await projectOf(call, client),
  workspace: call.positionals[0] ?? '',
});

const facts = (workspace: Workspace): readonly string[] =>
  factLines([
    ['id', workspace.id],
    ['project', workspace.project],
    ['default', workspace.isDefault ? 'yes' : undefined],
    ['external id', workspace.externalId],
    ['source', workspace.source],
    ['created', workspace.createdAt],
    ['active sessions', workspace.activeSessions],
    ['latest session', workspace.latestSession],
    ['saved', workspace.savedAt],
  ]);

const list = async (call: Call): Promise<undefined> => {
  const client = await call.client();
  const params = { id: await projectOf(call, client) };
  const workspaces = await readPages(
    (after) => client.request(api.listWorkspaces, { params, query: { after } }),
    (page) => page.workspaces,
  );
  call.output.result({ workspaces }, () =>
    tableLines(
      ['ID', 'DEFAULT', 'SESSIONS', 'SAVED', 'EXTERNAL ID', 'SOURCE'],
      workspaces.map((one) => [
        one.id,
        one.isDefault ? 'yes' : 'no',
        one.activeSessions,
        one.savedAt,
        one.externalId,
        one.source,
      ]),
    ),
  );
};

const create = async (call: Call): Promise<undefined> => {
  const client = await call.client();
  const params = { id: await projectOf(call, client) };
  const body = given<BodyOf<typeof api.makeWorkspace>>({
    id: call.positionals[0],
    externalId: call.text('external-id'),
    source: call.text('source'),
  });
  const made = await client.request(api.makeWorkspace, { params, body });
  call.output.result(made, () => [made.id]);
};

const get = async (call: Call): Promise<undefined> => {
  const client = await call.client();
  const found = await client.request(api.showWorkspace, { params: await paramsOf(call, client) });
  call.output.result(found, () => facts(found));
};

const remove = async (call: Call): Promise<undefined> => {
  const client = await call.client();
  const answer = await client.request(api.deleteWorkspace, { params: await paramsOf(call, client) });
  call.output.result(deleted(answer, { id: idOf(call) }), () => [`Deleted ${idOf(call)}.`]);
};

const project = { project: value } as const;
const named = { usage: '<id> [--project <id>]', options: project, positionals: oneId };

export const workspaceCommands: readonly Command[] = [
  ...listing('workspaces', {
    usage: '[--project <id>]',
    summary: 'List the workspaces of a project',
    options: project,
    positionals: none,
    run: list,
  }),
  {
    name: 'workspaces create',
    usage: '[id] [--external-id <text>] [--source <text>] [--project <id>]',
    summary: 'Create a workspace, with your id or a generated one, and print that',
    options: { 'external-id': value, source: value, ...project },
    positionals: { ...oneId, min: 0 },
    run: create,
  },
  { name: 'workspaces get', ...named, summary: 'Show one workspace', run: get },
  { name: 'workspaces delete', ...named, summary: 'Delete a workspace and its files', run: remove },
];
