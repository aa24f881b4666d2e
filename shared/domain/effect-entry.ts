/**
 * The entry of an effect for a change between two manifests: its type, the target of a link, permissions that change or are
 * unusual, and the digest of its content. With these the effect, and so its digest, covers everything that a diff leaves out.
 */
import type { ManifestEntry } from './checkpoint.ts';
import type { EffectFile } from './effect.ts';
import { type EntryChange, isUsualMode } from './manifest-changes.ts';

export const effectEntry = ({ path, change, before, after }: EntryChange): EffectFile => {
  const shown = after ?? before;
  const former = after === undefined ? undefined : before;
  return {
    ...{ path, change, bytes: shown?.type === 'file' ? shown.size : 0 },
    ...(shown === undefined ? {} : { type: shown.type }),
    ...(former === undefined || former.type === shown?.type ? {} : { typeBefore: former.type }),
    ...targets(shown, former),
    ...(after === undefined ? {} : modes(after, before)),
    ...contents(shown, former),
  };
};

type Entry = ManifestEntry | undefined;

const targets = (shown: Entry, former: Entry): Pick<EffectFile, 'target' | 'targetBefore'> => ({
  ...(shown?.type === 'symlink' ? { target: shown.target } : {}),
  ...(former?.type === 'symlink' ? { targetBefore: former.target } : {}),
});

const modes = (after: ManifestEntry, before: Entry): Pick<EffectFile, 'mode' | 'modeBefore'> => {
  if (after.type === 'symlink') return {};
  const mode = octal(after.mode);
  if (before?.type !== after.type) return isUsualMode(after) ? {} : { mode };
  return before.mode === after.mode ? {} : { mode, modeBefore: octal(before.mode) };
};

const octal = (mode: number): string => mode.toString(8).padStart(3, '0');

const contents = (shown: Entry, former: Entry): Pick<EffectFile, 'sha256'> => {
  if (shown?.type !== 'file') return {};
  const isSame = former?.type === 'file' && former.sha256 === shown.sha256;
  return isSame ? {} : { sha256: shown.sha256 };
};
