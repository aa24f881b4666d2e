/**
 * The effect of a call: what it does to the files of a workspace, and what it prints, as a person reads it before a decision.
 *
 * It is bounded, so that a prompt has it whole, and bound to its call by a digest that an approval names.
 */

import { type ChangeKind, lossesFirst } from './file-change.ts';
import type { Json } from './json.ts';
import { cutMiddle, utf8Bytes } from './text.ts';

export const entryTypes = ['file', 'directory', 'symlink'] as const;
export type EntryType = (typeof entryTypes)[number];

export type EffectFile = {
  readonly path: string;
  readonly change: ChangeKind;
  /** A unified diff of lines; absent for a binary file, and where it was too long. */
  readonly diff?: string;
  /** Of the file afterwards; of a removed one, before. */
  readonly bytes: number;
  /** Afterwards; of a removed one, before. Absent where an older function compared: nothing of the following is known then. */
  readonly type?: EntryType;
  /** Where it was of another type. */
  readonly typeBefore?: EntryType;
  /** Of a link. */
  readonly target?: string;
  /** Of what was another link, where it changes. */
  readonly targetBefore?: string;
  /** Permissions in octal, such as `755`: where they change, or are not the usual ones of what is made. */
  readonly mode?: string;
  readonly modeBefore?: string;
  /** Of a file's content, in hexadecimal: of what is made, changed or removed; absent where the content stays. */
  readonly sha256?: string;
};

export type Effect = {
  readonly files: EffectFile[];
  /** Files beyond those that are listed. */
  readonly filesLeftOut?: number;
  /** Of the saved state with all of them, where some are left out: the digest of an effect binds what it does not list. */
  readonly stateSha256?: string;
  /** Null where no program ran to its end. */
  readonly exitCode: number | null;
  readonly output: string;
  /** Those it asked for, as `host:port`, and what wanted-host.ts names: a trial reaches none. */
  readonly hosts: string[];
  readonly durationMs: number;
};

/** A prompt fits into a frame with its identity whole. */
const effectBytesMax = 18_000;
const outputCharactersMax = 6000;
/** As JSON: an output of wide or invisible characters must leave room for the names of files. */
const outputBytesMax = 8000;

/** The effect within its bound, removed files first: of the last files the diffs go first, then the files. */
export const boundEffect = ({ files, output, stateSha256, ...rest }: Effect): Effect => {
  const shown = { ...rest, output: boundOutput(output.toWellFormed()) };
  let room = effectBytesMax - bytesOf(shown);
  const kept: EffectFile[] = [];
  const ordered = files.toSorted(lossesFirst);
  for (const { diff, ...file } of ordered) {
    const named = wellFormed(file);
    const whole = diff === undefined ? named : { ...named, diff: diff.toWellFormed() };
    // Every file has its name before the first has its diff.
    const reserve = 200 * Math.min(20, files.length - kept.length - 1);
    const fits = bytesOf(whole) + reserve <= room ? whole : named;
    if (bytesOf(fits) > room) break;
    room -= bytesOf(fits) + 1;
    kept.push(fits);
  }
  const leftOut = files.length - kept.length + (rest.filesLeftOut ?? 0);
  if (leftOut === 0) return { ...shown, files: kept };
  const state = stateSha256 === undefined ? {} : { stateSha256 };
  return { ...shown, files: kept, filesLeftOut: leftOut, ...state };
};

const boundOutput = (output: string): string => {
  let charactersMax = outputCharactersMax;
  for (;;) {
    const cut = cutMiddle(output, charactersMax);
    const bytes = utf8Bytes(JSON.stringify(cut));
    if (bytes <= outputBytesMax) return cut;
    charactersMax = Math.floor((charactersMax * outputBytesMax) / bytes);
  }
};

const wellFormed = (file: EffectFile): EffectFile => ({
  ...file,
  path: file.path.toWellFormed(),
  ...(file.target === undefined ? {} : { target: file.target.toWellFormed() }),
  ...(file.targetBefore === undefined ? {} : { targetBefore: file.targetBefore.toWellFormed() }),
});

const bytesOf = (value: object): number => utf8Bytes(JSON.stringify(value));

/** The value whose canonical JSON has the digest of an effect, together with its call. */
export const digestedEffect = (digest: string, effect: object): Json => ({
  digest,
  effect: JSON.parse(JSON.stringify(effect)) as Json,
});
