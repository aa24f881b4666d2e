/** `sessions message`, `messages` and `cancel`: sends messages to a session and shows its conversation, without waiting for answers. */
import { api } from '#sdk/routes.ts';
import type { Call, Command } from '../command.ts';
import { stripControls } from '../control-characters.ts';
import { wrongUsage } from '../failure.ts';
import { readPiped } from '../prompt.ts';

/** The maximum message of the API, in bytes. */
const messageBytesMax = 1_048_576;

const paramsOf = ({ positionals }: Call) => ({ id: positionals[0] ?? '' });

const message = async (call: Call): Promise<undefined> => {
  const [, ...words] = call.positionals;
  const { host } = call;
  const piped = words.length === 0 && host.stdin.isTTY !== true;
  const text = piped ? (await readPiped(host, messageBytesMax)).trimEnd() : words.join(' ');
  if (text === '') throw wrongUsage('a message is required', ['Pass it as an argument, or pipe it.']);
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
