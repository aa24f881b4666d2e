/** `chat`: talks to an agent. With a message as argument or on stdin it prints the answer and exits. */
import type { FrameOf } from '#sdk/frames.ts';
import { api } from '#sdk/routes.ts';
import type { Completion, MessageChoices } from '../conversation/conversation.ts';
import { type Chat, openChat } from '../conversation/open-chat.ts';
import { abortable } from '../runtime/abort.ts';
import { type Call, type Command, flag, given, value } from '../runtime/command.ts';
import { adviceFor, exitCodes, wrongUsage } from '../runtime/failure.ts';
import type { Output } from '../runtime/output.ts';
import { readPiped } from '../runtime/prompt.ts';
import { newSessionOf, newSessionOptions, newSessionUsage, refuseBesideSession } from './new-session.ts';
import { endingSession, makeSession } from './session-end.ts';

const messageBytesMax = 1_048_576;

const run = async (call: Call): Promise<number> => {
  const isTerminal = call.host.stdin.isTTY === true;
  refuseBesideSession(call, ['model', 'thinking']);
  const message = await readMessage(call, isTerminal);
  const client = await call.client();
  const named = call.text('session');
  // A refused handshake gives no reason, but the same request by REST does.
  if (named !== undefined) await client.request(api.showSession, { params: { id: named } });
  let sessionId = named;
  const work = async (): Promise<number> => {
    const abort = abortable(call.host, 'the chat did not begin');
    try {
      sessionId ??= await makeSession(call, newSessionOf(call), abort.signal);
    } finally {
      abort.release();
    }
    abort.signal.throwIfAborted();
    return hold(call, { client, sessionId, isTerminal, message });
  };
  return endingSession(call, () => sessionId, work);
};

const hold = async (
  call: Call,
  { message, ...session }: Parameters<typeof openChat>[1] & { readonly message: string | undefined },
): Promise<number> => {
  const chat = openChat(call, session);
  try {
    const ready = await Promise.race([chat.talk.ready, chat.left]);
    if (message !== undefined) return await answerOnce(chat, message);
    printSession(chat, ready);
    return await converse(chat);
  } finally {
    chat.talk.close();
    printUnsent(chat);
    chat.questions?.close();
  }
};

/** Prints the text that was typed while the agent worked and is lost when the chat ends. */
const printUnsent = ({ call, questions }: Chat): void => {
  const unsent = questions?.kept() ?? '';
  if (unsent !== '') call.output.note(`\nNot sent: ${unsent}`);
};

const readMessage = async ({ positionals, host, output }: Call, isTerminal: boolean) => {
  if (positionals.length > 0) return positionals.join(' ');
  if (isTerminal && output.isJson) throw wrongUsage('--json needs a message');
  if (isTerminal) return undefined;
  const piped = (await readPiped(host, messageBytesMax)).trim();
  if (piped === '') throw wrongUsage('a message is required, as an argument or on stdin');
  return piped;
};

const answerOnce = async ({ call, sessionId, talk, failed }: Chat, message: string): Promise<number> => {
  const completion = await talk.say(message, choicesFor(call));
  const { turnId, stopReason, text, usage } = completion;
  const { output, host } = call;
  const { code, message: reason } = (stopReason === 'error' ? failed() : undefined) ?? {};
  const error = code === undefined ? {} : { error: { code, message: reason } };
  if (output.isJson) output.result({ sessionId, turnId, stopReason, text, usage, ...error }, () => []);
  else if (!call.isSet('stop') && host.stderr.isTTY === true)
    output.note(`Continue with \`sallyport chat --session ${sessionId}\`.`);
  if (code !== undefined && !output.isJson) printAdvice(output, code);
  return exitCodeOf(completion);
};

/** The failure itself was printed as it came. */
const printAdvice = (output: Output, code: string): void => {
  const advice = adviceFor(code);
  if (advice !== undefined) output.note(`  ${advice}`);
};

const exitCodeOf = ({ stopReason }: Completion): number => {
  if (stopReason === 'cancelled') return exitCodes.interrupted;
  return ['end_turn', 'max_tokens'].includes(stopReason) ? 0 : exitCodes.failed;
};

const choicesOf = ({ text }: Call): MessageChoices =>
  given<MessageChoices>({ model: text('model'), thinking: text('thinking') });

/** A new session has its model and its level already; in an existing one the options apply to these messages only. */
const choicesFor = (call: Call): MessageChoices =>
  call.text('session') === undefined ? {} : choicesOf(call);

const printSession = (
  { call, sessionId }: Chat,
  { model, provider }: FrameOf<'system:ready'>['data'],
): void => {
  const demo = provider === 'demo' ? ', not a language model: try `$ uname -a`' : '';
  call.output.note(`Session ${sessionId}, model ${model} (${provider})${demo}.`);
  call.output.note('Ctrl-C cancels a turn. At the prompt it exits, as Ctrl-D does.');
};

const isLeaving = (error: unknown): boolean =>
  error instanceof Error && 'exitCode' in error && error.exitCode === exitCodes.interrupted;

const converse = async ({ call, sessionId, talk, questions, left }: Chat): Promise<number> => {
  if (questions === undefined) return 0;
  try {
    for (;;) {
      const line = await Promise.race([questions.askMessage('\n› '), left]);
      if (line === undefined) break;
      if (line.trim() !== '') await talk.say(line, choicesFor(call));
    }
  } catch (error) {
    if (!isLeaving(error)) throw error;
  }
  call.output.note(`\nContinue with \`sallyport chat --session ${sessionId}\`.`);
  return 0;
};

export const chatCommand: Command = {
  name: 'chat',
  usage: `[--session <id>] ${newSessionUsage} [--yes] [--stop] [message…]`,
  summary: 'Chat with an agent, or get one answer',
  details: [
    'With a message (or one on stdin) it prints the answer and exits. A call that needs approval prompts on a terminal and',
    'is rejected otherwise; --yes approves all calls. --stop ends the session afterwards.',
    '--json prints {sessionId, turnId, stopReason, text, usage}, and error {code, message} of a turn that failed.',
  ],
  options: {
    session: value,
    ...newSessionOptions,
    yes: { type: 'boolean', short: 'y' },
    stop: flag,
  },
  positionals: { min: 0, max: 1000 },
  run,
};
