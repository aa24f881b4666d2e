/** The result of an ended tool call, as the user and the model read it, with what they must know of how it ran. */
import type { LogEntry } from '../event-log.ts';
import type { HistoryMessage } from '../history.ts';
import type { JsonObject } from '../json.ts';
import { cutMiddle } from '../text.ts';
import type { ToolCall } from './tool-call.ts';
import type { ToolResult } from './turn.ts';

type CallResult = {
  readonly status: 'completed' | 'failed';
  readonly log: readonly LogEntry[];
  readonly history: readonly HistoryMessage[];
};

/** The result of an ended call: its output, or its failure, for the user and for the model. */
export const resultOf = (
  { callId, name, edited, unsent }: Pick<ToolCall, 'callId' | 'name' | 'edited' | 'unsent'>,
  event: ToolResult,
): CallResult => {
  const before = editNotice(edited) + unsentNotice(unsent);
  if (event.type === 'call-finished') {
    const { content, durationMs, text, images = [] } = event;
    return {
      status: 'completed',
      log: [{ type: 'tool:output', data: { callId, name, content, durationMs } }],
      history: [
        {
          ...{ role: 'tool', callId, name, text: before + text, outcome: 'completed' },
          ...(images.length === 0 ? {} : { images }),
        },
      ],
    };
  }
  const message = `Tool ${name} failed: ${event.message}`;
  return {
    status: 'failed',
    log: [{ type: 'agent:error', data: { code: event.code, message, callId } }],
    history: [{ role: 'tool', callId, name, text: before + message, outcome: 'failed' }],
  };
};

/** The notice about the sandbox that it was to start in. */
const unsentNotice = (unsent: ToolCall['unsent']): string =>
  unsent?.notice === undefined ? '' : `${unsent.notice}\n`;

/** Characters of changed arguments as the model reads them before the result. */
const editedCharactersMax = 10_000;

/** A model that is not told believes that its own arguments ran. */
const editNotice = (edited: ToolCall['edited']): string =>
  edited === undefined
    ? ''
    : `The user changed the arguments of this call before it ran. It ran with ${cutMiddle(JSON.stringify(withoutValues(edited.args)), editedCharactersMax)}\n\n`;

/** Arguments as the log and the model have them: a person may have added variables, whose values are for the program alone. */
export const withoutValues = (args: JsonObject): JsonObject => {
  const { env } = args;
  if (typeof env !== 'object' || env === null || Array.isArray(env)) return args;
  return { ...args, env: Object.fromEntries(Object.keys(env).map((name) => [name, '***'])) };
};
