/** `sessions`, `stop` and `resume`: lists, shows, pauses, ends and reopens sessions, and prints logs. */

import { SallyportError } from '#sdk/errors.ts';
import { readPages } from '#sdk/pages.ts';
import type { BodyOf, QueryOf } from '#sdk/route.ts';
import { api, type Session } from '#sdk/routes.ts';
import { statusLabel } from '#shared/domain/status-label.ts';
import { visibleLine } from '#shared/domain/visible-text.ts';
import {
  byId,
  type Call,
  type Command,
  deleted,
  dollars,
  flag,
  given,
  idOf,
  listing,
  none,
  oneSessionId,
  pairsOf,
  value,
  values,
  wholeNumber,
} from '../runtime/command.ts';
import { stripControls, toJson } from '../runtime/control-characters.ts';
import { failure, wrongUsage } from '../runtime/failure.ts';
import { networkNamed } from '../runtime/network.ts';
import { factLines, tableLines } from '../runtime/output.ts';
import { eventCommands } from './session-events.ts';
import { treeCommand, usd, usdOf } from './session-tree.ts';

type ListQuery = QueryOf<typeof api.listSessions>;

const list = async (call: Call): Promise<undefined> => {
  const labels = call.list('label');
  const query = given<ListQuery>({
    status: call.text('status') ?? (call.isSet('all') ? undefined : 'active'),
    project: call.text('project'),
    label: labels.length === 0 ? undefined : labels,
    archived: call.isSet('archived') ? 'true' : undefined,
  });
  const sessions = await readPages(
    (after) => call.request(api.listSessions, { query: { ...query, after } }),
    (page) => page.sessions,
  );
  call.output.result({ sessions }, () =>
    tableLines(
      ['ID', 'KIND', 'STATUS', 'FLAVOR', 'SANDBOX', 'LAST ACTIVE', 'ABOUT'],
      sessions.map((one) => [
        one.id,
        one.kind,
        one.pendingApprovals?.length ? `${one.status}, needs approval` : statusLabel(one),
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
      ['status', statusLabel(session)],
      ['model', session.provider === undefined ? session.model : `${session.model} (${session.provider})`],
      ['runtime', session.runtime],
      ['flavor', session.flavor],
      ['template', session.template],
      ['sandbox', session.sandbox?.state ?? 'none'],
      ['project', session.project],
      ['workspace', session.workspace],
      ['network', session.network === 'none' ? 'none' : session.network?.allow.join(', ')],
      ['created', session.createdAt],
      ['last active', session.lastActiveAt],
      ['expires', session.expiresAt],
      ['spent', spentOf(session)],
      ['tokens', usage === undefined ? undefined : `${usage.inputTokens} in, ${usage.outputTokens} out`],
    ]),
    ...waitingLines(session.id, session.pendingApprovals ?? []),
  ]);
};

const spentOf = ({ costUsd, maxCostUsd }: Pick<Session, 'costUsd' | 'maxCostUsd'>): string =>
  maxCostUsd === undefined ? usd(costUsd) : usdOf(costUsd, maxCostUsd);

const update = async (call: Call): Promise<undefined> => {
  const archived = call.isSet('archive') ? true : call.isSet('unarchive') ? false : undefined;
  const labels = call.list('label');
  const body = given<BodyOf<typeof api.changeSession>>({
    title: call.text('title'),
    labels: labels.length === 0 ? undefined : pairsOf(labels, ':', 'label'),
    idleSeconds: wholeNumber(call.text('idle'), 'idle'),
    lifetimeSeconds: wholeNumber(call.text('lifetime'), 'lifetime'),
    archived,
    network: networkNamed(call),
    thinking: call.text('thinking'),
    maxCostUsd: dollars(call.text('max-cost'), 'max-cost'),
  });
  if (Object.keys(body).length === 0) throw wrongUsage('there is nothing to change');
  const session = await call.request(api.changeSession, { ...byId(call), body });
  call.output.result(session, () => [`Changed ${session.id}.`]);
};

/** Each of them, also behind one that is refused. */
const stop = async (call: Call): Promise<undefined> => {
  const { positionals, output } = call;
  const stopped: Pick<Session, 'id'>[] = [];
  const refused: { readonly id: string; readonly error: SallyportError }[] = [];
  for (const id of positionals) {
    try {
      stopped.push(deleted(await call.request(api.endSession, { params: { id } }), { id }));
      if (!output.isJson) output.line(`Stopped ${id}.`);
    } catch (error) {
      if (!isOfOne(error) || positionals.length === 1) throw error;
      refused.push({ id, error });
    }
  }
  const [first] = stopped;
  output.result(positionals.length === 1 ? first : { sessions: stopped }, () => []);
  const [{ error } = {}] = refused;
  if (error === undefined) return;
  const message = refused.map(({ id, error: { message } }) => `${id}: ${message}`).join('; ');
  throw failure(error.code, message, { suggestions: [...error.suggestions], cause: error });
};

/** A refusal that says nothing about the other sessions. */
const isOfOne = (error: unknown): error is SallyportError =>
  error instanceof SallyportError && [403, 404, 409].includes(error.status);

const pause = async (call: Call): Promise<undefined> => {
  const session = await call.request(api.pauseSession, { params: { id: idOf(call) } });
  call.output.result(session, () => [
    session.sandbox === null
      ? `${session.id} has no sandbox.`
      : `Paused ${session.id}: its sandbox is ${session.sandbox.state}.`,
  ]);
};

const resume = async (call: Call): Promise<undefined> => {
  const session = await call.request(api.resumeSession, { params: { id: idOf(call) } });
  call.output.result(session, () => [`Resumed ${session.id}: ${session.status}.`]);
};

const logs = async (call: Call): Promise<undefined> => {
  const params = { id: idOf(call) };
  const { lines } = await call.request(api.readLogs, { params });
  call.output.result({ lines }, () =>
    lines.map(({ at, stream, text }) => stripControls(`${at}  ${stream.padEnd(9)}  ${text.trimEnd()}`)),
  );
  if (lines.length === 0 && !call.output.isJson) call.output.note('No output.');
};

const stoppedMax = 100;
const some = {
  ...{ min: 1, max: stoppedMax, sessions: stoppedMax },
  names: Array.from({ length: stoppedMax }, () => 'id…'),
};

export const sessionCommands: readonly Command[] = [
  ...listing('sessions', {
    usage: '[--all] [--status <status>] [--project <id>] [--label <key>:<value>…] [--archived]',
    summary: 'List active sessions',
    options: { all: flag, status: value, project: value, label: values, archived: flag },
    positionals: none,
    run: list,
  }),
  { name: 'sessions get', usage: '<id>', summary: 'Show one session', positionals: oneSessionId, run: get },
  treeCommand,
  {
    name: 'sessions update',
    usage:
      '<id> [--title <text>] [--label <key>:<value>…] [--idle <seconds>] [--lifetime <seconds>] [--network <host>…] [--inject <host>/<header>=<secret>…] [--thinking off|low|medium|high] [--max-cost <usd>] [--archive|--unarchive]',
    summary: 'Change title, labels, idle time, lifetime, network, thinking or budget of a session',
    details: [
      '--label replaces all labels of the session; several are given one by one.',
      '--network replaces the hosts that its sandbox may reach, within those of the project; none for no network.',
      '--inject names the rules of the project that the session keeps. Without it, the session keeps all rules for these hosts; none keeps no rule.',
    ],
    options: {
      ...{ title: value, label: values, idle: value, lifetime: value },
      ...{ network: values, inject: values, thinking: value },
      ...{ 'max-cost': value, archive: flag, unarchive: flag },
    },
    positionals: oneSessionId,
    run: update,
  },
  {
    name: 'sessions stop',
    usage: '<id…>',
    summary: 'End sessions and their sandboxes',
    positionals: some,
    run: stop,
  },
  {
    name: 'sessions pause',
    usage: '<id>',
    summary: 'Save and stop the sandbox of a session; its next call starts it again',
    details: ['Processes and variables end with the sandbox. It is refused while a call or a turn runs.'],
    positionals: oneSessionId,
    run: pause,
  },
  {
    name: 'sessions resume',
    usage: '<id>',
    summary: 'Reopen an ended agent session',
    positionals: oneSessionId,
    run: resume,
  },
  {
    name: 'sessions logs',
    usage: '<id>',
    summary: 'Show the logs of the sandboxes of a session: stderr, starts and stops',
    positionals: oneSessionId,
    run: logs,
  },
  ...eventCommands,
  { name: 'stop', usage: '<id…>', summary: 'End sessions and their sandboxes', positionals: some, run: stop },
  {
    name: 'resume',
    usage: '<id>',
    summary: 'Reopen an ended agent session',
    positionals: oneSessionId,
    run: resume,
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
