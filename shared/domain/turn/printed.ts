/**
 * Printed output of a running call, as far as it was heard: kept while it runs, so that a call whose result never comes still
 * tells what it had done. The newest of it, up to a bound.
 */
import type { CallId } from '../ids.ts';
import { printedCharactersMax } from '../limits.ts';

/** Output by the id of the call. */
export type PrintedOutput = Readonly<Record<CallId, string>>;

/** A half of a surrogate pair at the cut is dropped. */
export const withPrinted = (before: string, more: string): string => {
  const text = before + more;
  return text.length <= printedCharactersMax
    ? text
    : text.slice(-printedCharactersMax).replace(/^[\uDC00-\uDFFF]/, '');
};

/** A sentence about a call, and what the call had printed. */
export const tellPrinted = (sentence: string, printed: string | undefined): string => {
  if (!printed) return sentence;
  const isCut = printed.length >= printedCharactersMax - 1;
  const start = sentence.endsWith('.') ? ' It had printed' : '; it had printed';
  return `${sentence}${start}${isCut ? ', at the end' : ''}:\n${printed}`;
};
