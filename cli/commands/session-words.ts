/** `sessions message`, `messages` and `cancel`: messages of a session that runs without this program. */
import { api } from '#sdk/routes.ts';
import type { Call, Command } from '../command.ts';
import { stripControls } from '../control-characters.ts';
import { wrongUsage } from '../failure.ts';
import { readPiped } from '../prompt.ts';

/** The longest message that the API takes, in bytes. */
const messageBytesMax = 1_048_576;

const paramsOf = ({ positionals }: Call) => ({ id: positionals[0] ?? '' });

const message = async (call: Call): Promise<undefined> => {
  const [, ...words] = call.positionals;
  const { host } = call;
  const piped = words.length === 0 && host.stdin.isTTY !== true;
  const text = piped ? (await readPiped(host, messageBytesMax)).trimEnd() : words.join(' ');
  if (text === '') throw wrongUsage('there is nothing to say', ['Give a message, or pipe one.']);
  const client = await call.client();
  const answer = await client.request(api.sendMessage, { params: paramsOf(call), body: { text } });
  call.output.result(answer, () => [
    `Queued; see \`sallyport sessions events ${call.positionals[0]} --since ${answer.lastSeq}\`.`,
  ]);
};

const messages = async (call: Call): Promise<undefined> => {
  const answer = await (await call.client()).request(api.readMessages, { params: paramsOf(call) });
  call.output.result(answer, () =>
    answer.messages.map(({ role, text, ...rest }) =>
      stripControls(`${role.padEnd(9)}  ${text ?? JSON.stringify(rest)}`),
    ),
  );
};

const cancel = async (call: Call): Promise<undefined> => {
  const answer = await (await call.client()).request(api.cancelTurn, { params: paramsOf(call) });
  call.output.result(answer, () => [`Cancelled the turn of ${call.positionals[0]}.`]);
};

const one = { min: 1, max: 1 };

export const sessionWordCommands: readonly Command[] = [
  {
    name: 'sessions message',
    usage: '<id> [message…]',
    summary: 'Queue a message and do not wait for the answer',
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
  { name: 'sessions cancel', usage: '<id>', summary: 'Stop the running turn', positionals: one, run: cancel },
];
