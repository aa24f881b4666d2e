/**
 * The conversation of a session as a document: Markdown for people, JSON for programs. Made of the log: messages, thoughts, calls
 * with their decisions and results, failures. A session keeps its newest 1,000 events; the document says when some are missing.
 */
import type { ApiClient } from './api-client.ts';
import type { Signalled } from './route.ts';
import { api, type Session } from './routes.ts';
import { type LogEvents, readWholeLog } from './whole-log.ts';

export const exportFormats = ['markdown', 'json'] as const;
export type ExportFormat = (typeof exportFormats)[number];

type LoggedEvent = LogEvents[number];

export const exportConversation = async (
  client: Pick<ApiClient, 'request'>,
  { id, format, signal }: Signalled & { readonly id: string; readonly format: ExportFormat },
): Promise<string> => {
  const session = await client.request(api.showSession, { params: { id } }, { signal });
  const { events, isCut } = await readWholeLog(client, { id, signal });
  return format === 'json'
    ? `${JSON.stringify({ session, eventsAreMissing: isCut, events }, null, 2)}\n`
    : markdownOf(session, events, isCut);
};

const markdownOf = (session: Session, events: readonly LoggedEvent[], isCut: boolean): string => {
  const { id, title, provider, model, createdAt, usage, costUsd } = session;
  const head = [
    `# ${lineOf(title ?? `Session ${id}`)}`,
    [
      `- Session: ${id}`,
      `- Created: ${createdAt}`,
      `- Model: ${lineOf(`${provider} ${model}`)}`,
      `- Tokens: ${usage.inputTokens} in, ${usage.outputTokens} out`,
      `- Cost: $${costUsd.toFixed(4)}`,
    ].join('\n'),
    ...(isCut ? ['> Older events were deleted.'] : []),
  ];
  return `${[...head, ...events.flatMap(sectionOf)].join('\n\n')}\n`;
};

const lineOf = (text: string): string => text.replace(/\s+/g, ' ').trim();

type Data = LoggedEvent['data'];

const sectionOf = ({ type, at, data }: LoggedEvent): readonly string[] => sections[type]?.(data, at) ?? [];

const sections: Readonly<Record<string, (data: Data, at: string) => readonly string[]>> = {
  message: ({ role, text, attachments, partial }, at) => [
    `## ${role === 'user' ? 'User' : 'Assistant'} · ${at}`,
    ...(text === '' ? [] : [String(text)]),
    ...(Array.isArray(attachments) ? attachments.map((file) => `- Attached: ${codeOf(pathOf(file))}`) : []),
    ...(partial === true ? ['_The answer was interrupted._'] : []),
  ],
  reasoning: ({ text }) => [`### Thoughts`, quoted(String(text))],
  'tool:call': ({ name, args }) => [
    `### Call · ${lineOf(String(name))}`,
    fenced(JSON.stringify(args, null, 2), 'json'),
  ],
  'tool:decided': ({ approved, by, reason }) => [
    `_${approved === true ? 'Approved' : 'Rejected'} by ${deciderOf(by)}${typeof reason === 'string' ? `: ${lineOf(reason)}` : ''}_`,
  ],
  'tool:output': ({ name, content }) => [`### Result · ${lineOf(String(name))}`, fenced(textOf(content))],
  'agent:error': ({ message, code, provider }) => [
    `> **Failed**: ${lineOf(String(message))} (${provider === undefined ? '' : `${String(provider)}, `}${String(code)})`,
  ],
  completion: ({ stopReason }) => (stopReason === 'end_turn' ? [] : [`_Ended: ${String(stopReason)}_`]),
};

const pathOf = (file: unknown): string => String((file as { readonly path?: unknown }).path);

const deciderOf = (by: unknown): string => {
  const { kind, name, id } = (by ?? {}) as {
    readonly kind?: string;
    readonly name?: string;
    readonly id?: string;
  };
  return lineOf(`${kind ?? 'unknown'} ${name ?? id ?? ''}`);
};

/** The data of a table or chart has its text before it. */
const textOf = (content: unknown): string =>
  Array.isArray(content)
    ? content
        .filter(({ annotations }) => !annotations)
        .map(({ type, text }) => (typeof text === 'string' ? text : `[${type}]`))
        .join('\n')
    : '';

const quoted = (text: string): string => text.replace(/^/gm, '> ');

const codeOf = (text: string): string => {
  const ticks = '`'.repeat(longestRun(text) + 1);
  return `${ticks} ${lineOf(text)} ${ticks}`;
};

/** The fence is longer than any run of its character in the text: nothing in it ends the block. */
const fenced = (text: string, language = ''): string => {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
};

/** A text may have more runs than a call takes arguments. */
const longestRun = (text: string): number =>
  (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
