/** `sessions message`, `messages`, `cancel`, `retry`, `branch` and `export`: the conversation of a session. */

import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type ExportFormat, exportConversation, exportFormats } from '#sdk/conversation-export.ts';
import type { AnswerOf } from '#sdk/route.ts';
import { api } from '#sdk/routes.ts';
import { callInShort } from '../approval/call-view.ts';
import { byId, type Call, type Command, idOf, oneSessionId, value, values } from '../runtime/command.ts';
import { stripControls } from '../runtime/control-characters.ts';
import { failure, wrongUsage } from '../runtime/failure.ts';
import { readPiped } from '../runtime/prompt.ts';

/** The maximum message of the API, in bytes. */
const messageBytesMax = 1_048_576;

const message = async (call: Call): Promise<undefined> => {
  const [, ...words] = call.positionals;
  const { host } = call;
  const piped = words.length === 0 && host.stdin.isTTY !== true;
  const text = piped ? (await readPiped(host, messageBytesMax)).trimEnd() : words.join(' ');
  if (text === '') throw wrongUsage('a message is required', ['Pass it as an argument, or pipe it.']);
  const attachments = call.list('attach').map((path) => ({ path }));
  const body = attachments.length === 0 ? { text } : { text, attachments };
  const answer = await call.request(api.sendMessage, { ...byId(call), body });
  call.output.result(answer, () => [queued(idOf(call), answer.lastSeq)]);
};

/** A new session has no event yet, and `--since` takes no number before the first. */
const queued = (id: string, lastSeq: number): string =>
  `Queued; see \`sallyport sessions events ${id}${lastSeq < 0 ? '' : ` --since ${lastSeq}`}\`.`;

const messages = async (call: Call): Promise<undefined> => {
  const answer = await call.request(api.readMessages, byId(call));
  call.output.result(answer, () => answer.messages.flatMap(messageLines));
};

const roleColumns = 11;

/** An answer that only requests calls has no text of its own. */
const messageLines = (message: Message): readonly string[] => {
  const calls = message.role === 'assistant' ? message.calls : [];
  const said = [message.text.trimEnd(), ...calls.map((asked) => `> ${callInShort(asked)}`)];
  const lines = stripControls(said.filter((part) => part !== '').join('\n')).split('\n');
  return lines.map((line, index) => (index === 0 ? message.role : '').padEnd(roleColumns) + line);
};

type Message = AnswerOf<typeof api.readMessages>['messages'][number];

const cancel = async (call: Call): Promise<undefined> => {
  const answer = await call.request(api.cancelTurn, byId(call));
  call.output.result(answer, () => cancelLines[answer.cancelled](call.positionals[0] ?? ''));
};

const cancelLines: Readonly<
  Record<AnswerOf<typeof api.cancelTurn>['cancelled'], (id: string) => readonly string[]>
> = {
  turn: (id) => [`Cancelled the turn of ${id}.`],
  below: (id) => [`Session ${id} had no turn. Cancelled those of the sessions under it.`],
  nothing: (id) => [
    `Session ${id} had no turn to cancel. A program that runs in it goes on: \`sallyport stop ${id}\` ends it with the session.`,
  ],
};

const retry = async (call: Call): Promise<undefined> => {
  const answer = await call.request(api.retryTurn, byId(call));
  call.output.result(answer, () => [queued(idOf(call), answer.lastSeq)]);
};

const branch = async (call: Call): Promise<undefined> => {
  const [session = '', messageId = ''] = call.positionals;
  const from = { session, messageId, ...filesOf(call.text('files')) };
  const made = await call.request(api.makeSession, { body: { from } });
  call.output.result(made, () => [made.id]);
};

const filesOf = (given: string | undefined): { readonly files?: 'then' | 'now' } => {
  if (given === undefined) return {};
  if (given === 'then' || given === 'now') return { files: given };
  throw wrongUsage(`--files ${given}: use then or now`);
};

const exportOne = async (call: Call): Promise<undefined> => {
  const format = call.text('format') ?? (call.output.isJson ? 'json' : 'markdown');
  if (!isFormat(format)) throw wrongUsage(`--format ${format}: use one of ${exportFormats.join(', ')}`);
  const client = await call.client();
  const text = await exportConversation(client, { id: idOf(call), format });
  const path = call.text('output');
  if (path === undefined) {
    const isForProgram = call.host.stdout.isTTY !== true;
    await call.output.raw(isForProgram ? text : stripControls(text));
    return;
  }
  await writeFile(resolve(call.host.folder, path), text, { flag: 'wx' }).catch(unwritable(path));
  call.output.result({ path }, () => [`Wrote ${path}.`]);
};

const unwritable =
  (path: string) =>
  (cause: NodeJS.ErrnoException): never => {
    if (cause.code !== 'EEXIST')
      throw failure('file_not_written', `${path} cannot be written: ${cause.code}`, { cause });
    throw failure('file_exists', `${path} exists, and is not overwritten`, {
      cause,
      suggestions: ['Name another file, or delete this one first.'],
    });
  };

const isFormat = (format: string): format is ExportFormat =>
  (exportFormats as readonly string[]).includes(format);

export const sessionMessageCommands: readonly Command[] = [
  {
    name: 'sessions message',
    usage: '<id> [--attach <path>…] [message…]',
    summary: 'Send a message without waiting for the answer',
    details: [
      '--attach names a file of the workspace: an image is shown to the model, another file is named.',
    ],
    options: { attach: values },
    positionals: { ...oneSessionId, max: 1000 },
    run: message,
  },
  {
    name: 'sessions messages',
    usage: '<id>',
    summary: 'Show the conversation of a session',
    positionals: oneSessionId,
    run: messages,
  },
  {
    name: 'sessions cancel',
    usage: '<id>',
    summary: 'Cancel the running turn',
    positionals: oneSessionId,
    run: cancel,
  },
  {
    name: 'sessions branch',
    usage: '<id> <message id> [--files then|now]',
    summary: 'Continue a conversation from a message in a new session',
    details: [
      'Message ids are in `sessions messages <id> --json`. Branching at your message leaves out that message and all later ones. Branching at an answer keeps the answer.',
      '--files now takes the files as they are now, instead of those of that time.',
    ],
    options: { files: value },
    positionals: { min: 2, max: 2, names: ['id', 'message id'], sessions: 1 },
    run: branch,
  },
  {
    name: 'sessions retry',
    usage: '<id>',
    summary: 'Repeat the message of the last turn, which failed',
    positionals: oneSessionId,
    run: retry,
  },
  {
    name: 'sessions export',
    usage: '<id> [--format markdown|json] [--output <file>]',
    summary: 'Write a conversation as Markdown or JSON',
    details: [
      'Without --output to stdout. A file that exists is not overwritten. With --json the format is JSON.',
    ],
    options: { format: value, output: value },
    positionals: oneSessionId,
    run: exportOne,
  },
];
