/**
 * `snapshot`, `snapshots`, `restore`, `fork`: keeps the files of a session, brings them back, or begins another session with them.
 *
 * Beside a session a snapshot may be named instead of its id; a name that several have is refused with their ids. A fork takes the id.
 */
import { SallyportError } from '#sdk/errors.ts';
import type { BodyOf } from '#sdk/route.ts';
import { api, type Session, type Snapshot } from '#sdk/routes.ts';
import { isUuid } from '#shared/domain/ids.ts';
import { byId, type Call, type Command, flag, given, oneSession, value } from '../runtime/command.ts';
import { failure, wrongUsage } from '../runtime/failure.ts';
import { tableLines } from '../runtime/output.ts';

const make = async (call: Call): Promise<undefined> => {
  const body = given<BodyOf<typeof api.makeSnapshot>>({ name: call.text('name') });
  const made = await call.request(api.makeSnapshot, { ...byId(call), body });
  call.output.result(made, () => [made.id]);
};

const list = async (call: Call): Promise<undefined> => {
  const of = call.isSet('all') ? 'project' : 'workspace';
  const { snapshots } = await call.request(api.listSnapshots, { ...byId(call), query: { of } });
  call.output.result({ snapshots }, () =>
    tableLines(
      ['ID', 'NAME', 'MADE', 'FILES', 'BYTES'],
      snapshots.map(({ id, name, at, files, bytes }) => [id, name, at, files, bytes]),
      'No snapshots. `sallyport snapshot <session>` makes one.',
    ),
  );
};

/** Of several with one name in the project, that of the session is meant. */
const snapshotOf = async (call: Call): Promise<string> => {
  const [, named = ''] = call.positionals;
  if (isUuid(named.toLowerCase())) return named;
  const find = async (of: 'workspace' | 'project'): Promise<readonly Snapshot[]> => {
    const { snapshots } = await call.request(api.listSnapshots, { ...byId(call), query: { of } });
    return snapshots.filter(({ name }) => name === named);
  };
  const all = await find('project');
  const own = all.length > 1 ? await find('workspace') : [];
  const candidates = own.length > 0 ? own : all;
  const [found, ...others] = candidates;
  if (found === undefined)
    throw failure('not_found', `no snapshot has the name ${named}`, {
      suggestions: ['List the snapshots with `sallyport snapshots <session> --all`.'],
    });
  if (others.length === 0) return found.id;
  throw failure('conflict', `${candidates.length} snapshots have the name ${named}`, {
    suggestions: candidates.map(({ id, at }) => `${id} of ${at}`),
  });
};

const remove = async (call: Call): Promise<undefined> => {
  const [id = ''] = call.positionals;
  const snapshotId = await snapshotOf(call);
  await call.request(api.deleteSnapshot, { params: { id, snapshotId } });
  call.output.result({ id: snapshotId }, () => [`Deleted ${snapshotId}.`]);
};

const restore = async (call: Call): Promise<undefined> => {
  const snapshot = await snapshotOf(call);
  const restored = await call.request(api.restoreSnapshot, { ...byId(call), body: { snapshot } });
  call.output.result(restored, () => [
    `Restored ${restored.name}: ${restored.files} files. Processes of the sandbox have ended.`,
  ]);
};

const fork = async (call: Call): Promise<undefined> => {
  const [snapshot] = call.positionals;
  const session = call.text('session');
  if ((snapshot === undefined) === (session === undefined))
    throw wrongUsage('fork either a snapshot or a session', [
      'Usage: sallyport fork <snapshot>',
      'Usage: sallyport fork --session <session>',
    ]);
  if (snapshot !== undefined && !isUuid(snapshot.toLowerCase()))
    throw wrongUsage(`a fork takes the id of a snapshot, not ${snapshot}`, [
      'List the ids with `sallyport snapshots <session> --all`.',
    ]);
  const kind: Session['kind'] = call.isSet('agent') ? 'agent' : 'execution';
  const body = {
    ...given<BodyOf<typeof api.makeSession>>({
      ...{ project: call.text('project'), template: call.text('template'), flavor: call.text('flavor') },
    }),
    kind,
    from: snapshot === undefined ? { session } : { snapshot },
  };
  const made = await call.request(api.makeSession, { body }).catch((cause: unknown) => {
    throw cause instanceof SallyportError && cause.code === 'not_found' && snapshot !== undefined
      ? failure('not_found', cause.message, {
          suggestions: [`For the files of a session: sallyport fork --session ${snapshot}`],
        })
      : cause;
  });
  call.output.result(made, () => [made.id]);
};

const two = { min: 2, max: 2, names: ['session', 'snapshot or its name'], sessions: 1 };

export const snapshotCommands: readonly Command[] = [
  {
    name: 'snapshot',
    usage: '<session> [--name <text>]',
    summary: 'Keep the files of a session as they are now, and print the id',
    options: { name: value },
    positionals: oneSession,
    run: make,
  },
  {
    name: 'snapshots',
    usage: '<session> [--all]',
    summary: 'List the snapshots of a session, with --all those of its project',
    options: { all: flag },
    positionals: oneSession,
    run: list,
  },
  {
    name: 'snapshot delete',
    usage: '<session> <snapshot or its name>',
    summary: 'Delete a snapshot',
    positionals: two,
    run: remove,
  },
  {
    name: 'restore',
    usage: '<session> <snapshot or its name>',
    summary: 'Bring back the files of a snapshot; processes end',
    positionals: two,
    run: restore,
  },
  {
    name: 'fork',
    usage: '<snapshot> | --session <session> [--agent] [--project <id>] [--template <name>] [--flavor <f>]',
    summary: 'Begin a session with the files of a snapshot or of another session, and print its id',
    details: [
      'The fork of a session has its project, template, flavor and network, unless an option names others; that of a snapshot has those of its project.',
    ],
    options: { session: value, agent: flag, project: value, template: value, flavor: value },
    positionals: { min: 0, max: 1, names: ['snapshot'] },
    run: fork,
  },
];
