/** `sessions` and `stop`: lists, shows and ends sessions, and prints their logs and events. */
import { api, type Session } from '#sdk/routes.ts';
import type { AnswerOf, QueryOf, Sallyport } from '#sdk/sallyport.ts';
import { visibleLine } from '#shared/domain/visible-text.ts';
import { listAll } from '../client.ts';
import { type Call, type Command, given, wholeNumber } from '../command.ts';
import { stripControls, toJson } from '../control-characters.ts';
import { factLines, tableLines } from '../output.ts';

const sessionId = ({ positionals }: Call): string => positionals[0] ?? '';

type ListQuery = QueryOf<typeof api.listSessions>;

const list = async (call: Call): Promise<undefined> => {
  const client = await call.client();
  const query = given<ListQuery>({ status: call.text('status'), project: call.text('project') });
  const all = await listAll(
    (after) => client.request(api.listSessions, { query: { ...query, after } }),
    (page) => page.sessions,
  );
  const isShown = ({ status }: Session): boolean =>
    call.isSet('all') ||
    call.text('status') !== undefined ||
    !['completed', 'failed', 'stopped'].includes(status);
  const sessions = all.filter(isShown);
  call.output.result({ sessions }, () =>
    sessions.length === 0
      ? ['No active sessions. --all includes ended ones.']
      : tableLines(
          ['ID', 'KIND', 'STATUS', 'FLAVOR', 'SANDBOX', 'LAST ACTIVE', 'ABOUT'],
          sessions.map((one) => [
            one.id,
            one.kind,
            one.pendingApprovals?.length ? `${one.status}, needs approval` : one.status,
            one.flavor,
            one.sandbox?.state ?? 'none',
            one.lastActiveAt,
            one.title ?? '',
          ]),
        ),
  );
};

const get = async (call: Call): Promise<undefined> => {
  const session = await (await call.client()).request(api.showSession, {
    params: { id: sessionId(call) },
  });
  const { usage } = session;
  call.output.result(session, () => [
    ...factLines([
      ['id', session.id],
      ['kind', session.kind],
      ['about', session.title],
      ['status', session.status],
      ['model', session.provider === undefined ? session.model : `${session.model} (${session.provider})`],
      ['flavor', session.flavor],
      ['template', session.template],
      ['sandbox', session.sandbox?.state ?? 'none'],
      ['project', session.project],
      ['workspace', session.workspace],
      ['created', session.createdAt],
      ['last active', session.lastActiveAt],
      ['expires', session.expiresAt],
      ['tokens', usage === undefined ? undefined : `${usage.inputTokens} in, ${usage.outputTokens} out`],
    ]),
    ...waitingLines(session.id, session.pendingApprovals ?? []),
  ]);
};

const stop = async (call: Call): Promise<undefined> => {
  const client = await call.client();
  const stopped: Session[] = [];
  for (const id of call.positionals) {
    stopped.push(await client.request(api.endSession, { params: { id } }));
    if (!call.output.isJson) call.output.line(`Stopped ${id}.`);
  }
  const [first] = stopped;
  call.output.result(stopped.length === 1 ? first : { sessions: stopped }, () => []);
};

const logs = async (call: Call): Promise<undefined> => {
  const params = { id: sessionId(call) };
  const { lines } = await (await call.client()).request(api.readLogs, { params });
  call.output.result({ lines }, () =>
    lines.map(({ at, stream, text }) => stripControls(`${at}  ${stream.padEnd(9)}  ${text.trimEnd()}`)),
  );
  if (lines.length === 0 && !call.output.isJson) call.output.note('No output.');
};

const events = async (call: Call): Promise<undefined> => {
  const client = await call.client();
  const since = wholeNumber(call.text('since'), 'since') ?? -1;
  const found = await readEvents(client, { id: sessionId(call), since, isTree: call.isSet('children') });
  call.output.result({ sessionId: sessionId(call), events: found }, () =>
    found.map(({ index, at, type, data }) =>
      stripControls(`${String(index).padStart(4)}  ${at}  ${type.padEnd(22)}  ${JSON.stringify(data)}`),
    ),
  );
};

type LogEvent = AnswerOf<typeof api.readEvents>['events'][number];

/** The log keeps 1000 events, which are fewer pages. */
const pagesMax = 50;

const readEvents = async (
  client: Sallyport,
  { id, since, isTree }: { readonly id: string; readonly since: number; readonly isTree: boolean },
): Promise<readonly LogEvent[]> => {
  const found: LogEvent[] = [];
  let last = since;
  for (let page = 0; page < pagesMax; page += 1) {
    const children = isTree ? { include_children: 'true' as const } : {};
    const query = { since_index: last, ...children };
    const answer = await client.request(api.readEvents, { params: { id }, query });
    found.push(...answer.events);
    last = answer.lastIndex;
    if (!answer.hasMore || answer.events.length === 0) break;
  }
  return found;
};

const one = { min: 1, max: 1 } as const;
const some = { min: 1, max: 100 } as const;
const listing = {
  usage: '[--all] [--status <status>] [--project <id>]',
  summary: 'List active sessions',
  options: { all: { type: 'boolean' }, status: { type: 'string' }, project: { type: 'string' } },
  positionals: { min: 0, max: 0 },
  run: list,
} as const;

export const sessionCommands: readonly Command[] = [
  { name: 'sessions', ...listing },
  { name: 'sessions list', ...listing },
  { name: 'sessions get', usage: '<id>', summary: 'Show one session', positionals: one, run: get },
  {
    name: 'sessions stop',
    usage: '<id…>',
    summary: 'End sessions and their sandboxes',
    positionals: some,
    run: stop,
  },
  {
    name: 'sessions logs',
    usage: '<id>',
    summary: 'Show the stderr and the lifecycle of its sandboxes',
    positionals: one,
    run: logs,
  },
  {
    name: 'sessions events',
    usage: '<id> [--since <index>] [--children]',
    summary: 'Show the events of a session, and with --children of its whole tree',
    options: { since: { type: 'string' }, children: { type: 'boolean' } },
    positionals: one,
    run: events,
  },
  { name: 'stop', usage: '<id…>', summary: 'End sessions and their sandboxes', positionals: some, run: stop },
];

type Waiting = Pick<Session['pendingApprovals'][number], 'callId' | 'name' | 'args'>;

/** Shows the pending calls in full. They are decided in order, so only the first has a command. */
export const waitingLines = (session: string, calls: readonly Waiting[]): readonly string[] => {
  const [first] = calls;
  if (first === undefined) return [];
  return [
    '',
    'Needs approval:',
    ...calls.map(({ name, args }) => `  ${visibleLine(name)} ${toJson(args)}`),
    `Decide the first with \`sallyport approvals approve ${session} ${visibleLine(first.callId)}\`, or with \`reject\`.`,
  ];
};
