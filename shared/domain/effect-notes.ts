/** Notes on an entry of an effect, as a person reads them beside its diff: links, types, permissions and digests. */
import type { EffectFile, EntryType } from './effect.ts';
import { visibleLine } from './visible-text.ts';

const typeNames: Readonly<Record<EntryType, string>> = {
  file: 'a file',
  directory: 'a folder',
  symlink: 'a link',
};
const digestCharacters = 16;

/** The line with which a diff ends that was cut: no line of a diff begins like it. */
const cutEnd = /(?:^|\n)… [^\n]*$/u;

/** Nothing of an entry is invisible in them. */
export const effectNotes = (file: EffectFile): readonly string[] => [
  ...typeNotes(file),
  ...(file.target === undefined ? [] : [`→ ${visibleLine(file.target)}`]),
  ...(file.targetBefore === undefined ? [] : [`was → ${visibleLine(file.targetBefore)}`]),
  ...modeNotes(file),
  ...digestNotes(file),
];

const typeNotes = ({ change, type, typeBefore }: EffectFile): readonly string[] => {
  if (type === undefined) return [];
  if (typeBefore !== undefined) return [`${typeNames[typeBefore]}, replaced by ${typeNames[type]}`];
  return type === 'file' ? [] : [change === 'modified' ? `${typeNames[type]}, changed` : typeNames[type]];
};

const modeNotes = ({ mode, modeBefore }: EffectFile): readonly string[] => {
  if (mode === undefined) return [];
  const now = permissions(mode);
  return [
    modeBefore === undefined ? `permissions ${now}` : `permissions ${permissions(modeBefore)} → ${now}`,
  ];
};

/** `rwxr-xr-x` of `755`. Another text stays as it is. */
const permissions = (mode: string): string =>
  /^[0-7]{3}$/.test(mode) ? [...mode].map((digit) => triples[Number(digit)]).join('') : visibleLine(mode);

const triples = ['---', '--x', '-w-', '-wx', 'r--', 'r-x', 'rw-', 'rwx'] as const;

/** The diff says the content where it is whole. */
const digestNotes = ({ sha256, diff }: EffectFile): readonly string[] =>
  sha256 === undefined || (diff !== undefined && !cutEnd.test(diff))
    ? []
    : [`SHA-256 ${visibleLine(sha256.slice(0, digestCharacters))}…`];

/** The reason why an entry has no lines; undefined where its notes say all, and where it has a diff. */
export const missingLines = ({
  change,
  type,
  typeBefore,
  diff,
  bytes,
  sha256,
}: EffectFile): string | undefined => {
  if (diff !== undefined) return diff === '' ? 'No lines differ.' : undefined;
  if (type === undefined) return 'No lines shown: binary, too long, or changed in its permissions alone.';
  if (type !== 'file') return undefined;
  if (change === 'modified' && typeBefore === undefined && sha256 === undefined)
    return 'Its content stays: changed in its permissions alone.';
  return bytes === 0 ? 'It is empty.' : 'No lines shown: binary or too long.';
};
