/** `chat`: talks to an agent. With a message, or with one in a pipe, it prints the answer and exits. */
import type { FrameOf } from '#sdk/frames.ts';
import { api } from '#sdk/routes.ts';
import type { BodyOf, Sallyport } from '#sdk/sallyport.ts';
import { type Call, type Command, given } from '../command.ts';
import { type Chat, openChat } from '../conversation/chat.ts';
import type { Completion } from '../conversation/conversation.ts';
import { exitCodes, wrongUsage } from '../failure.ts';
import { readPiped } from '../prompt.ts';

const messageBytesMax = 1_048_576;

const run = async (call: Call): Promise<number> => {
  const isTerminal = call.host.stdin.isTTY === true;
  const message = await readMessage(call, isTerminal);
  const client = await call.client();
  const sessionId = await findSession(call, client);
  const chat = openChat(call, { client, sessionId, isTerminal });
  try {
    const ready = await Promise.race([chat.talk.ready, chat.left]);
    if (message !== undefined) return await answerOnce(chat, message);
    greet(chat, ready);
    return await converse(chat);
  } finally {
    chat.talk.close();
    sayUnsent(chat);
    chat.questions?.close();
    if (call.isSet('stop')) await client.request(api.endSession, { params: { id: sessionId } });
  }
};

/** Text that was typed while the agent worked is sent nowhere when the chat ends. */
const sayUnsent = ({ call, questions }: Chat): void => {
  const unsent = questions?.kept() ?? '';
  if (unsent !== '') call.output.note(`\nTyped and not sent: ${unsent}`);
};

const readMessage = async ({ positionals, host, output }: Call, isTerminal: boolean) => {
  if (positionals.length > 0) return positionals.join(' ');
  if (isTerminal && output.isJson) throw wrongUsage('--json needs a message');
  if (isTerminal) return undefined;
  const piped = (await readPiped(host, messageBytesMax)).trim();
  if (piped === '') throw wrongUsage('there is no message, neither as an argument nor on stdin');
  return piped;
};

const findSession = async (call: Call, client: Sallyport): Promise<string> => {
  const session = call.text('session');
  const wish = given<BodyOf<typeof api.makeSession>>(
    Object.fromEntries(['provider', 'approvals', 'flavor', 'project'].map((name) => [name, call.text(name)])),
  );
  if (session === undefined) {
    const model = call.text('model');
    const body = { ...wish, ...(model === undefined ? {} : { model }) };
    return (await client.request(api.makeSession, { body })).id;
  }
  const [unfit] = Object.keys(wish);
  if (unfit !== undefined) throw wrongUsage(`--${unfit} is for a new session, not for --session`);
  // A refused handshake does not say why: the same question by REST does.
  await client.request(api.showSession, { params: { id: session } });
  return session;
};

const answerOnce = async ({ call, sessionId, talk }: Chat, message: string): Promise<number> => {
  const completion = await talk.say(message, modelFor(call));
  const { turnId, stopReason, text, usage } = completion;
  const { output, host } = call;
  if (output.isJson) output.result({ sessionId, turnId, stopReason, text, usage }, () => []);
  else if (!call.isSet('stop') && host.stderr.isTTY === true)
    output.note(`Go on with \`sallyport chat --session ${sessionId}\`.`);
  return exitCodeOf(completion);
};

const exitCodeOf = ({ stopReason }: Completion): number => {
  if (stopReason === 'cancelled') return exitCodes.interrupted;
  return ['end_turn', 'max_tokens'].includes(stopReason) ? 0 : exitCodes.failed;
};

/** A new session has its model already; in a session that was there it is for these messages alone. */
const modelFor = ({ text }: Call): string | undefined =>
  text('session') === undefined ? undefined : text('model');

const greet = ({ call, sessionId }: Chat, { model, provider }: FrameOf<'system:ready'>['data']): void => {
  const demo = provider === 'demo' ? ', which is no language model: write `$ uname -a`' : '';
  call.output.note(`Session ${sessionId}, model ${model} (${provider})${demo}.`);
  call.output.note('Ctrl-C cancels a turn, twice leaves; Ctrl-D leaves.');
};

const isLeaving = (error: unknown): boolean =>
  error instanceof Error && 'exitCode' in error && error.exitCode === exitCodes.interrupted;

const converse = async ({ call, sessionId, talk, questions, left }: Chat): Promise<number> => {
  if (questions === undefined) return 0;
  try {
    for (;;) {
      const line = await Promise.race([questions.askMessage('\n› '), left]);
      if (line === undefined) break;
      if (line.trim() !== '') await talk.say(line, modelFor(call));
    }
  } catch (error) {
    if (!isLeaving(error)) throw error;
  }
  call.output.note(`\nGo on with \`sallyport chat --session ${sessionId}\`.`);
  return 0;
};

export const chatCommand: Command = {
  name: 'chat',
  usage:
    '[--session <id>] [--model <m>] [--provider <p>] [--approvals ask|auto|low|medium|high] [--flavor <f>] [--project <id>] [--yes] [--stop] [message…]',
  summary: 'Talk to an agent, or get one answer',
  details: [
    'With a message (or one on stdin) it prints the answer and exits; calls that need approval are asked about',
    'on a terminal and rejected elsewhere, unless --yes approves all. --stop ends the session afterwards.',
    '--json prints {sessionId, turnId, stopReason, text, usage}.',
  ],
  options: {
    session: { type: 'string' },
    model: { type: 'string' },
    provider: { type: 'string' },
    approvals: { type: 'string' },
    flavor: { type: 'string' },
    project: { type: 'string' },
    yes: { type: 'boolean', short: 'y' },
    stop: { type: 'boolean' },
  },
  positionals: { min: 0, max: 1000 },
  run,
};
