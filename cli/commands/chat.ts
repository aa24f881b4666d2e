/**
 * `chat`: talks to an agent. With a message, or with one in a pipe, it prints the answer and exits.
 *
 * A call that needs approval is asked about; where nobody can be asked it is rejected, which is said. Ctrl-C
 * cancels the turn, a second one leaves.
 */
import { type Call, type Command, given } from '../command.ts';
import { showControls } from '../control-characters.ts';
import {
  type Approval,
  type Completion,
  type Conversation,
  type Decision,
  openConversation,
} from '../conversation/conversation.ts';
import type { Frame } from '../conversation/event-order.ts';
import { openQuestions, type Questions, readAnswer } from '../conversation/questions.ts';
import { describeArgs, makeTurnView } from '../conversation/turn-view.ts';
import { exitCodes, failure, wrongUsage } from '../failure.ts';
import { type HttpClient, segment } from '../http-client.ts';
import { readPiped } from '../prompt.ts';

const messageBytesMax = 1_048_576;

type Chat = {
  readonly call: Call;
  readonly sessionId: string;
  readonly talk: Conversation;
  readonly questions: Questions | undefined;
  /** Rejects when the person wants to leave. */
  readonly left: Promise<never>;
};

const run = async (call: Call): Promise<number> => {
  const isTerminal = call.host.stdin.isTTY === true;
  const message = await readMessage(call, isTerminal);
  const client = await call.client();
  const sessionId = await findSession(call, client);
  const chat = open(call, { client, sessionId, isTerminal });
  try {
    const ready = await Promise.race([chat.talk.ready, chat.left]);
    if (message !== undefined) return await answerOnce(chat, message);
    greet(chat, ready);
    return await converse(chat);
  } finally {
    chat.talk.close();
    chat.questions?.close();
    if (call.isSet('stop')) await client.send('DELETE', `/api/sessions/${segment(sessionId)}`);
  }
};

const readMessage = async ({ positionals, host, output }: Call, isTerminal: boolean) => {
  if (positionals.length > 0) return positionals.join(' ');
  if (isTerminal && output.isJson) throw wrongUsage('--json needs a message');
  if (isTerminal) return undefined;
  const piped = (await readPiped(host, messageBytesMax)).trim();
  if (piped === '') throw wrongUsage('there is no message, neither as an argument nor on stdin');
  return piped;
};

const findSession = async (call: Call, client: HttpClient): Promise<string> => {
  const session = call.text('session');
  const wish = given(
    Object.fromEntries(['provider', 'approvals', 'flavor', 'project'].map((name) => [name, call.text(name)])),
  );
  if (session === undefined) {
    const body = { ...wish, ...given({ model: call.text('model') }) };
    return (await client.send<{ id: string }>('POST', '/api/sessions', body)).id;
  }
  const [unfit] = Object.keys(wish);
  if (unfit !== undefined) throw wrongUsage(`--${unfit} is for a new session, not for --session`);
  // A socket may open a session under an id that nobody has; this one is to be there already.
  await client.get(`/api/sessions/${segment(session)}`);
  return session;
};

const open = (
  call: Call,
  { client, sessionId, isTerminal }: { client: HttpClient; sessionId: string; isTerminal: boolean },
): Chat => {
  const { output, host } = call;
  const view = makeTurnView(output);
  const leaving = Promise.withResolvers<never>();
  leaving.promise.catch(() => undefined);
  const state = { interrupts: 0, isTurning: false };
  const onInterrupt = (): void => {
    state.interrupts += 1;
    if (state.interrupts > 1 || !state.isTurning) {
      leaving.reject(failure('interrupted', 'left', { exitCode: exitCodes.interrupted }));
      return;
    }
    output.note('\nCancelling; Ctrl-C again leaves.');
    questions?.withdraw();
    talk.cancel();
  };
  const questions = isTerminal ? openQuestions(host, onInterrupt) : undefined;
  const release = host.onInterrupt(onInterrupt);
  /** Into a pipe goes the answer alone; what happened on the way is for the person who waits. */
  const show = (frame: Frame): void => {
    if (output.isJson) return;
    const isAnswer = host.stdout.isTTY === true || ['delta', 'message'].includes(frame.type);
    output.text(view.take(frame), isAnswer ? 'stdout' : 'stderr');
  };
  const inner = openConversation(client, sessionId, {
    onFrame: show,
    onLost: () => output.note('Connection lost, trying again…'),
    decide: (approval) => decide(call, questions, approval),
  });
  const talk: Conversation = {
    ...inner,
    say: async (text, model) => {
      Object.assign(state, { interrupts: 0, isTurning: true });
      try {
        return await Promise.race([inner.say(text, model), leaving.promise]);
      } finally {
        state.isTurning = false;
      }
    },
    close: () => {
      release();
      inner.close();
    },
  };
  return { call, sessionId, talk, questions, left: leaving.promise };
};

const decide = async (
  { isSet, output }: Call,
  questions: Questions | undefined,
  approval: Approval,
): Promise<Decision> => {
  if (isSet('yes')) return { approved: true };
  if (questions === undefined) {
    output.note(`Rejected ${approval.name}: nobody is here to be asked; use --yes or --approvals auto.`);
    return { approved: false };
  }
  const { queuePosition, totalInQueue } = approval;
  const place = Number(totalInQueue) > 1 ? ` (${String(queuePosition)} of ${String(totalInQueue)})` : '';
  const question = `Allow ${showControls(approval.name)}${place}: ${describeArgs(approval.args)}\n[y]es, [n]o, [a]lways: `;
  for (;;) {
    const line = await questions.ask(question);
    if (line === undefined) return { approved: false };
    const answer = readAnswer(line);
    if (answer === 'always') return { approved: true, remember: 'session' };
    if (answer !== 'unclear') return { approved: answer === 'yes' };
  }
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

const greet = ({ call, sessionId }: Chat, { model, provider }: Frame['data']): void => {
  const demo = provider === 'demo' ? ', which is no language model: write `$ uname -a`' : '';
  call.output.note(`Session ${sessionId}, model ${String(model)} (${String(provider)})${demo}.`);
  call.output.note('Ctrl-C cancels a turn, twice leaves; Ctrl-D leaves.');
};

const isLeaving = (error: unknown): boolean =>
  error instanceof Error && 'exitCode' in error && error.exitCode === exitCodes.interrupted;

const converse = async ({ call, sessionId, talk, questions, left }: Chat): Promise<number> => {
  if (questions === undefined) return 0;
  try {
    for (;;) {
      const line = await Promise.race([questions.ask('\n› '), left]);
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
