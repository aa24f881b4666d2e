/**
 * Short ids of sessions: the first characters of an id, at least four, that belong to only one session.
 *
 * The list of sessions is read only for a short id. Any other text is sent to the server unchanged. An archived session is
 * found only if no other session matches.
 */
import { readPages } from '#sdk/pages.ts';
import { api, type Session } from '#sdk/routes.ts';
import { statusLabel } from '#shared/domain/status-label.ts';
import { visibleLine } from '#shared/domain/visible-text.ts';
import type { Call, Command } from './command.ts';
import { type CliFailure, failure } from './failure.ts';

/** Of a UUID, and not the whole. */
const beginning = /^[0-9a-f]{4}[0-9a-f-]{0,31}$/i;
const namedMax = 10;

/** The call with the whole ids of the sessions that its arguments and `--session` begin. */
export const withWholeIds = async (command: Command, call: Call): Promise<Call> => {
  const named = call.positionals.slice(0, command.positionals.sessions ?? 0);
  const option = command.options?.['session'] === undefined ? undefined : call.text('session');
  const given = [...named, ...(option === undefined ? [] : [option])];
  const begun = [...new Set(given.filter((id) => beginning.test(id)))];
  if (begun.length === 0) return call;
  const whole = await readWholeIds(call, begun);
  const idOf = (id: string): string => whole.get(id) ?? id;
  return {
    ...call,
    positionals: call.positionals.map((id, at) => (at < named.length ? idOf(id) : id)),
    text: (name) => (name === 'session' && option !== undefined ? idOf(option) : call.text(name)),
  };
};

const readWholeIds = async (call: Call, begun: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  const whole = new Map<string, string>();
  for (const archived of ['false', 'true'] as const) {
    const missing = begun.filter((id) => !whole.has(id));
    if (missing.length === 0) break;
    const sessions = await readSessions(call, archived);
    for (const id of missing) {
      const found = sessions.filter((one) => one.id.startsWith(id.toLowerCase()));
      if (found.length > 1) throw ambiguous(id, found);
      if (found[0] !== undefined) whole.set(id, found[0].id);
    }
  }
  const unknown = begun.find((id) => !whole.has(id));
  if (unknown !== undefined) throw noneBegins(unknown);
  return whole;
};

const readSessions = (call: Call, archived: 'true' | 'false'): Promise<readonly Session[]> =>
  readPages(
    (after) => call.request(api.listSessions, { query: { archived, after } }),
    (page) => page.sessions,
  );

const ambiguous = (id: string, found: readonly Session[]): CliFailure =>
  failure('conflict', `${found.length} sessions have an id that begins with ${id}`, {
    suggestions: [
      ...found.slice(0, namedMax).map((one) => [one.id, statusLabel(one), titleOf(one)].join('  ').trimEnd()),
      ...(found.length > namedMax ? [`and ${found.length - namedMax} more`] : []),
    ],
  });

const titleOf = ({ title }: Session): string => (title === undefined ? '' : visibleLine(title));

const noneBegins = (id: string): CliFailure =>
  failure('session_not_found', `no session has an id that begins with ${id}`, {
    suggestions: ['List the sessions with `sallyport sessions --all`, and archived ones with `--archived`.'],
  });
