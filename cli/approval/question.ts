/**
 * The question about one call on a terminal: the whole call, one word that decides it, and the details of the decision.
 *
 * Only a whole line that is one of the words decides: a sentence that begins with "no" or "yes" is a message. The end of
 * the input and a withdrawn question decide nothing.
 */
import { decideCall, digestOf, isSettled, type WaitingCall } from '#sdk/approvals.ts';
import { SallyportError } from '#sdk/errors.ts';
import type { Decision } from '#sdk/routes.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { toolIdentity } from '#shared/domain/requested-call.ts';
import { grantFor, hasWords, isInput } from '#shared/domain/turn/grant.ts';
import { visibleLine } from '#shared/domain/visible-text.ts';
import type { Call } from '../runtime/command.ts';
import type { Questions } from '../runtime/questions.ts';
import { callLines } from './call-view.ts';
import { editArgs } from './edit-args.ts';

type Answer = 'approve' | 'reject' | 'always' | 'prefix' | 'edit' | 'later';

const words: Readonly<Record<string, Answer>> = {
  approve: 'approve',
  yes: 'approve',
  y: 'approve',
  reject: 'reject',
  no: 'reject',
  n: 'reject',
  always: 'always',
  a: 'always',
  prefix: 'prefix',
  p: 'prefix',
  edit: 'edit',
  e: 'edit',
  later: 'later',
  l: 'later',
};

export const readAnswer = (line: string): Answer | undefined => {
  const word = line.trim().toLowerCase();
  return Object.hasOwn(words, word) ? words[word] : undefined;
};

export type Asker = {
  readonly questions: Questions;
  readonly note: (line: string) => void;
  /** Width of the terminal. */
  readonly columns: number | undefined;
  /** Returns changed arguments, or the reason why there are none. */
  readonly edit: (args: JsonObject) => Promise<JsonObject | string>;
};

export const makeAsker = ({ output, host }: Call, questions: Questions): Asker => ({
  questions,
  note: output.note,
  columns: host.stderr.columns,
  edit: (args) => questions.lend(() => editArgs(args, host.variables)),
});

/** Undefined: the question was withdrawn, or the input has ended. */
export type Verdict = Decision | 'later' | undefined;

/** The subject of the question: the call as it waits, and its arguments as the person has changed them. */
type Subject = { readonly call: WaitingCall; readonly edited?: JsonObject };

const choices = '[y] approve, [n] reject, [a]lways, [p]refix, [e]dit, [l]ater: ';

export const askAboutCall = async (asker: Asker, call: WaitingCall): Promise<Verdict> => {
  let subject: Subject = { call };
  let shown = questionText(call, asker.columns);
  for (;;) {
    const line = await asker.questions.askDecision(shown + choices);
    if (line === undefined) return undefined;
    const answer = readAnswer(line);
    shown = '';
    if (answer === undefined) {
      asker.questions.keep(line);
      asker.note('Not decided yet: answer with one of these words. Your text is kept for your next message.');
    } else if (answer === 'edit') {
      const changed = await changedArgs(asker, subject);
      if (typeof changed === 'string') asker.note(changed);
      else {
        subject = { call, edited: changed };
        const digest = await digestOf({ ...call, args: changed });
        shown = changedText({ ...call, args: changed, digest }, asker.columns);
      }
    } else {
      const verdict = await verdictOf(answer, subject, asker);
      if (verdict !== undefined) return verdict;
    }
  }
};

/** A result that was tried is applied as it is. */
const changedArgs = ({ edit }: Asker, { call, edited }: Subject): Promise<JsonObject | string> | string =>
  call.effectDigest === undefined
    ? edit(edited ?? call.args)
    : 'A call that was tried cannot be edited: reject it with a reason that says what to change.';

const questionText = (call: WaitingCall, columns: number | undefined): string => {
  const { queuePosition, totalInQueue } = call;
  const place = totalInQueue > 1 ? ` (${queuePosition} of ${totalInQueue})` : '';
  return `\nNeeds approval${place}:\n${callLines(call, columns).join('\n')}\n`;
};

const changedText = (call: WaitingCall, columns: number | undefined): string =>
  `\nAs you changed it:\n${callLines(call, columns).join('\n')}\n`;

/** Undefined: this is no decision yet. */
const verdictOf = async (
  answer: Exclude<Answer, 'edit'>,
  { call, edited }: Subject,
  asker: Asker,
): Promise<Verdict> => {
  const approval = { approved: true, ...(edited === undefined ? {} : { args: edited }) };
  switch (answer) {
    case 'approve':
      return approval;
    case 'always':
      if (!isInput({ name: call.name, args: edited ?? call.args }))
        return { ...approval, remember: 'session' };
      asker.note('Input to a process is always asked about. Not decided yet.');
      return undefined;
    case 'later':
      return 'later';
    case 'prefix': {
      const prefix = await askPrefix(asker, edited === undefined ? call : { ...call, args: edited });
      return prefix === undefined ? undefined : { ...approval, remember: { prefix } };
    }
    case 'reject': {
      const reason = (await asker.questions.askDetail('Reason, for the agent (may be empty): '))?.trim();
      return { approved: false, ...(reason ? { reason } : {}) };
    }
  }
};

/** The words with which later commands may begin; this command must begin with them too, or they were mistyped. */
const askPrefix = async (
  { questions, note }: Asker,
  { name, args }: WaitingCall,
): Promise<string | undefined> => {
  if (!hasWords({ name })) {
    note(`Only commands can have a prefix; \`always\` allows every later call of ${visibleLine(name)}.`);
    return undefined;
  }
  const prefix = (await questions.askDetail('Allow later commands that begin with: '))?.trim();
  if (prefix === undefined) return undefined;
  const grant = {
    id: '',
    tool: name,
    identity: toolIdentity({ name }),
    prefix,
    by: { kind: 'person', id: '' },
    at: 0,
  } as const;
  if (grantFor({ name, args }, [grant]) !== undefined) return prefix;
  note('This is not a plain command that begins with these words. Not decided yet.');
  return undefined;
};

/** Sends a decision that may be too late; with `conflict`, another call waits than the one that was shown. */
export const tryDecision = async (
  client: Sallyport,
  call: WaitingCall,
  decision: Decision,
): Promise<'decided' | 'settled' | { readonly conflict: string }> => {
  try {
    return (await ifWaiting(decideCall(client, call, decision))) === undefined ? 'settled' : 'decided';
  } catch (error) {
    if (error instanceof SallyportError && error.code === 'conflict') return { conflict: error.message };
    throw error;
  }
};

/** Undefined: the call was decided elsewhere, or its turn was cancelled. */
export const ifWaiting = async <T>(request: Promise<T>): Promise<T | undefined> => {
  try {
    return await request;
  } catch (error) {
    if (isSettled(error)) return undefined;
    throw error;
  }
};
