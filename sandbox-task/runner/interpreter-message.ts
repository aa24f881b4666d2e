/** What an interpreter says, checked for its shape: user code may write on the same pipe. */
import type { InterpreterMessage } from '../wire/interpreter-messages.ts';

const errorLineCharactersMax = 2000;
const mimeType = /^(?:image|text)\/[\w.+-]{1,100}$/;

/** Throws on anything else; then the interpreter is ended. */
export const parseInterpreterMessage = (header: unknown): InterpreterMessage => {
  const message = header as Partial<Record<string, unknown>> | null;
  switch (message?.['type']) {
    case 'ready':
      return { type: 'ready' };
    case 'display': {
      const bytes = message['bytes'];
      const shown = message['mimeType'];
      if (typeof shown !== 'string' || !mimeType.test(shown) || !Number.isSafeInteger(bytes)) break;
      return { type: 'display', mimeType: shown, bytes: Number(bytes) };
    }
    case 'done': {
      const { exitCode, errorLine } = message;
      if (!Number.isSafeInteger(exitCode)) break;
      const line = typeof errorLine === 'string' ? errorLine.slice(0, errorLineCharactersMax) : null;
      return { type: 'done', exitCode: Number(exitCode), errorLine: line };
    }
    case undefined:
      break;
  }
  throw new Error('an interpreter does not speak the protocol');
};
