/**
 * The question about one call on a terminal: the whole call, then a decision in one word, with its details.
 *
 * Nothing is decided by the end of the input, by a withdrawn question or by any other line than one of the words.
 */
import { digestOf, type WaitingCall } from '#sdk/approvals.ts';
import type { Decision } from '#sdk/routes.ts';
import { toolIdentity } from '#shared/domain/asked-call.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { grantFor, hasWords } from '#shared/domain/turn/grant.ts';
import { visibleLine } from '#shared/domain/visible-text.ts';
import type { Call } from '../command.ts';
import type { Questions } from '../conversation/questions.ts';
import { type Answer, readAnswer } from './answer.ts';
import { callLines } from './call-view.ts';
import { editArgs } from './edit-args.ts';

export type Asker = {
  readonly questions: Questions;
  readonly note: (line: string) => void;
  /** Of the terminal. */
  readonly columns: number | undefined;
  /** Gives changed arguments, or says why there are none. */
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
      asker.note(
        'Nothing is decided yet: answer with one of these words. Yours are kept for your next message.',
      );
    } else if (answer === 'edit') {
      const changed = await asker.edit(subject.edited ?? call.args);
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
      return { ...approval, remember: 'session' };
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

/** The words that later commands may begin with; this one must begin with them, too, or they were mistyped. */
const askPrefix = async (
  { questions, note }: Asker,
  { name, args }: WaitingCall,
): Promise<string | undefined> => {
  if (!hasWords({ name })) {
    note(
      `Only commands have words to begin with; \`always\` allows every later call of ${visibleLine(name)}.`,
    );
    return undefined;
  }
  const prefix = (await questions.askDetail('Allow later commands that begin with: '))?.trim() ?? '';
  const grant = {
    id: '',
    tool: name,
    identity: toolIdentity({ name }),
    prefix,
    by: { kind: 'person', id: '' },
    at: 0,
  } as const;
  if (grantFor({ name, args }, [grant]) !== undefined) return prefix;
  note('This is no plain command that begins with these words. Nothing is decided yet.');
  return undefined;
};
