/**
 * Texts of a history as a provider takes them: a blank one is refused or means nothing, so it is replaced by a
 * note.
 */
import type { HistoryMessage } from '#shared/domain/history.ts';

type Result = Extract<HistoryMessage, { role: 'tool' }>;

export const isBlank = (text: string): boolean => text.trim() === '';

export const userText = (text: string): string => (isBlank(text) ? '(a blank message)' : text.toWellFormed());

export const resultText = ({ text, outcome }: Result): string =>
  isBlank(text) ? blankResults[outcome] : text.toWellFormed();

const blankResults = {
  completed: '(no output)',
  failed: 'The call failed.',
  rejected: 'The user rejected this call. It did not run.',
} as const;
