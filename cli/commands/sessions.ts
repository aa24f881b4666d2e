/** `sessions` and `stop`: lists, shows and ends sessions, sends messages, and prints conversations, logs and events. */
import { api, type Session } from '#sdk/routes.ts';
import type { AnswerOf, QueryOf, Sallyport } from '#sdk/sallyport.ts';
import { visibleLine } from '#shared/domain/visible-text.ts';
import { listAll } from '../runtime/client.ts';
import {
  byId,
  type Call,
  type Command,
  flag,
  given,
  idOf,
  listing,
  none,
  one,
  value,
  wholeNumber,
} from '../runtime/command.ts';
import { stripControls, toJson } from '../runtime/control-characters.ts';
import { wrongUsage } from '../runtime/failure.ts';
import { factLines, tableLines } from '../runtime/output.ts';
import { readPiped } from '../runtime/prompt.ts';

type ListQuery = QueryOf<typeof api.listSessions>;

const list = async (call: Call): Promise<undefined> => {
  const query = given<ListQuery>({ status: call.text('status'), project: call.text('project') });
  const all = await listAll(
    (after) => call.request(api.listSessions, { query: { ...query, after } }),
    (page) => page.sessions,
  );
  const isShown = ({ status }: Session): boolean =>
    call.isSet('all') ||
    call.text('status') !== undefined ||
    !['completed', 'failed', 'stopped'].includes(status);
  const sessions = all.filter(isShown);
  call.output.result({ sessions }, () =>
    tableLines(
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
      'No active sessions. --all includes ended ones.',
    ),
  );
};

const get = async (call: Call): Promise<undefined> => {
  const session = await call.request(api.showSession, byId(call));
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
  const stopped: Session[] = [];
  for (const id of call.positionals) {
    stopped.push(await call.request(api.endSession, { params: { id } }));
    if (!call.output.isJson) call.output.line(`Stopped ${id}.`);
  }
  const [first] = stopped;
  call.output.result(stopped.length === 1 ? first : { sessions: stopped }, () => []);
};

const logs = async (call: Call): Promise<undefined> => {
  const params = { id: idOf(call) };
  const { lines } = await call.request(api.readLogs, { params });
  call.output.result({ lines }, () =>
    lines.map(({ at, stream, text }) => stripControls(`${at}  ${stream.padEnd(9)}  ${text.trimEnd()}`)),
  );
  if (lines.length === 0 && !call.output.isJson) call.output.note('No output.');
};

const events = async (call: Call): Promise<undefined> => {
  const client = await call.client();
  const since = wholeNumber(call.text('since'), 'since') ?? -1;
  const found = await readEvents(client, { id: idOf(call), since, isTree: call.isSet('children') });
  call.output.result({ sessionId: idOf(call), events: found }, () =>
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

/** The maximum message of the API, in bytes. */
const messageBytesMax = 1_048_576;

const message = async (call: Call): Promise<undefined> => {
  const [, ...words] = call.positionals;
  const { host } = call;
  const piped = words.length === 0 && host.stdin.isTTY !== true;
  const text = piped ? (await readPiped(host, messageBytesMax)).trimEnd() : words.join(' ');
  if (text === '') throw wrongUsage('a message is required', ['Pass it as an argument, or pipe it.']);
  const answer = await call.request(api.sendMessage, { ...byId(call), body: { text } });
  call.output.result(answer, () => [
    `Queued; see \`sallyport sessions events ${call.positionals[0]} --since ${answer.lastSeq}\`.`,
  ]);
};

const messages = async (call: Call): Promise<undefined> => {
  const answer = await call.request(api.readMessages, byId(call));
  call.output.result(answer, () =>
    answer.messages.map(({ role, text, ...rest }) =>
      stripControls(`${role.padEnd(9)}  ${text ?? JSON.stringify(rest)}`),
    ),
  );
};

const cancel = async (call: Call): Promise<undefined> => {
  const answer = await call.request(api.cancelTurn, byId(call));
  call.output.result(answer, () => [`Cancelled the turn of ${call.positionals[0]}.`]);
};

const some = { min: 1, max: 100 } as const;

export const sessionCommands: readonly Command[] = [
  ...listing('sessions', {
    usage: '[--all] [--status <status>] [--project <id>]',
    summary: 'List active sessions',
    options: { all: flag, status: value, project: value },
    positionals: none,
    run: list,
  }),
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
    options: { since: value, children: flag },
    positionals: one,
    run: events,
  },
  { name: 'stop', usage: '<id…>', summary: 'End sessions and their sandboxes', positionals: some, run: stop },
];

export const sessionMessageCommands: readonly Command[] = [
  {
    name: 'sessions message',
    usage: '<id> [message…]',
    summary: 'Send a message without waiting for the answer',
    positionals: { min: 1, max: 1000 },
    run: message,
  },
  {
    name: 'sessions messages',
    usage: '<id>',
    summary: 'Show the conversation',
    positionals: one,
    run: messages,
  },
  {
    name: 'sessions cancel',
    usage: '<id>',
    summary: 'Cancel the running turn',
    positionals: one,
    run: cancel,
  },
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
