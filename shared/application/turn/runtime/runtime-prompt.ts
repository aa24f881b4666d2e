/** The prompt of a turn for the program that carries it. In every sandbox after the first, it includes what happened before. */
import type { HistoryMessage } from '../../../domain/history.ts';
import { asksOf, type RuntimePrompt, type RuntimeWork } from '../../../domain/runtime.ts';
import { currentMessage } from '../../../domain/turn/session-after-step.ts';
import type { Thinking } from '../../../domain/turn/turn.ts';
import type { TurnContext } from '../holder/turn-context.ts';

export const promptOf = (
  context: TurnContext,
  state: Thinking & { readonly runtime: RuntimeWork },
): RuntimePrompt => {
  const { session, instructions } = context;
  const message = questionOf(context, state);
  const { provider, model, id } = session;
  return {
    runtime: state.runtime.name,
    conversation: id,
    text: [restartNotice(state.runtime), message?.text ?? '', attachmentLines(message?.attachments)]
      .filter((part) => part !== '')
      .join('\n\n'),
    ...(instructions === undefined ? {} : { instructions }),
    provider,
    model: state.model ?? model,
    asks: asksOf(state.policy.mode),
  };
};

/** The message of a repeated turn is in the conversation alone: what waits names it, and has no text. */
const questionOf = ({ history, inbox }: TurnContext, state: Thinking) => {
  const waiting = currentMessage(state, inbox);
  if (waiting !== undefined && waiting.repeats === undefined) return waiting;
  return history.findLast(
    (said): said is Extract<HistoryMessage, { role: 'user' }> =>
      said.role === 'user' && said.messageId === state.messageId,
  );
};

const restartNotice = ({ starts }: RuntimeWork): string =>
  starts < 2
    ? ''
    : 'Notice from the platform: the sandbox was lost while you worked on the message below, and this is a new one. Its files are as they were last saved; programs that ran have ended. Look at what is there, and go on. The message:';

const attachmentLines = (attachments: readonly { readonly path: string }[] = []): string =>
  attachments.map(({ path }) => `Attached file: ${path}`).join('\n');
