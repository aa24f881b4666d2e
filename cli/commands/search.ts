/** `sessions search`: finds sessions by words of their titles and messages, the newest first. */
import type { QueryOf } from '#sdk/route.ts';
import { api, type SearchPage } from '#sdk/routes.ts';
import { visibleLine } from '#shared/domain/visible-text.ts';
import { type Call, type Command, given, value, wholeNumber } from '../runtime/command.ts';
import { wrongUsage } from '../runtime/failure.ts';

const sessionsDefault = 100;

const run = async (call: Call): Promise<undefined> => {
  const wanted = wholeNumber(call.text('sessions'), 'sessions') ?? sessionsDefault;
  if (wanted < 1) throw wrongUsage('--sessions must be at least 1');
  const query = given<QueryOf<typeof api.searchSessions>>({
    text: call.positionals.join(' '),
    project: call.text('project'),
  });
  const found: SearchPage['found'] = [];
  let [searched, cut] = [0, 0];
  let after: string | undefined;
  do {
    const page = await call.request(api.searchSessions, { query: { ...query, after } });
    found.push(...page.found);
    searched += page.searchedSessions;
    cut += page.cutConversations;
    after = page.next;
  } while (after !== undefined && searched < wanted);
  const hasMore = after !== undefined;
  const result = { found, searchedSessions: searched, cutConversations: cut, hasMore };
  call.output.result(result, () => found.flatMap(linesOf));
  if (!call.output.isJson) for (const note of notesOf(result)) call.output.note(note);
};

const linesOf = ({ session, messages }: SearchPage['found'][number]): readonly string[] => [
  `${session.id}  ${session.lastActiveAt}  ${visibleLine(session.title ?? '')}`,
  ...messages.map(
    ({ role, before, match, after }) =>
      `  ${role}: ${visibleLine(`${before}${match}${after}`.replaceAll(/\s+/gu, ' '))}`,
  ),
];

type Result = Pick<SearchPage, 'found' | 'searchedSessions' | 'cutConversations'> & {
  readonly hasMore: boolean;
};

const notesOf = ({ found, searchedSessions, cutConversations, hasMore }: Result): readonly string[] => [
  ...(found.length === 0 ? ['Nothing found.'] : []),
  ...(hasMore ? [`Searched the newest ${searchedSessions} sessions. --sessions searches more.`] : []),
  ...(cutConversations === 0
    ? []
    : [`Of ${cutConversations} long conversations only the newest messages were searched.`]),
];

export const searchCommands: readonly Command[] = [
  {
    name: 'sessions search',
    usage: '<word…> [--project <id>] [--sessions <number>]',
    summary: 'Find sessions by words in their titles and messages',
    details: [
      `--sessions is the number of sessions to search, newest first (${sessionsDefault} by default).`,
    ],
    options: { project: value, sessions: value },
    positionals: { min: 1, max: 100 },
    run,
  },
];
