import { describe, expect, test } from 'vitest';
import { boundEffect, digestedEffect, type Effect, type EffectFile } from './effect.ts';
import { utf8Bytes } from './text.ts';

const effect = (files: EffectFile[], output = ''): Effect => ({
  ...{ files, exitCode: 0, output, hosts: [], durationMs: 5 },
});

describe('an effect', () => {
  test('that is short stays whole', () => {
    const short = effect(
      [{ path: 'a.txt', change: 'created', diff: '@@ -0,0 +1,1 @@\n+a', bytes: 2 }],
      'done',
    );
    expect(boundEffect(short)).toEqual(short);
  });

  test('fits into a frame, however long: names stay longer than diffs, and what is left out is counted', () => {
    const files = Array.from({ length: 300 }, (_, index) => ({
      ...{
        path: `folder/file-${index}.txt`,
        change: 'modified' as const,
        diff: '+x\n'.repeat(1500),
        bytes: 4500,
      },
    }));
    const bound = boundEffect({ ...effect(files, 'o'.repeat(100_000)), filesLeftOut: 700 });
    expect(utf8Bytes(JSON.stringify(bound))).toBeLessThan(20_000);
    expect(bound.files.length + (bound.filesLeftOut ?? 0)).toBe(1000);
    expect(bound.files.length).toBeGreaterThan(20);
    expect(bound.files[0]).toHaveProperty('diff');
    expect(bound.files.at(-1)).not.toHaveProperty('diff');
  });

  test.each([
    ['wide', '漢'],
    ['outside of the first plane', '😀'],
    ['without a look', '\u0001'],
    ['two bytes', '\u00e9\n'],
  ])('whose output is of characters that are %s still names its files, and fits', (_, character) => {
    const files = Array.from(
      { length: 60 },
      (_one, index): EffectFile => ({ path: `src/${index}.ts`, change: 'removed', bytes: 900 }),
    );
    const bound = boundEffect(effect(files, character.repeat(6000)));
    expect(utf8Bytes(JSON.stringify(bound))).toBeLessThan(18_100);
    expect([bound.files.length, bound.filesLeftOut]).toEqual([60, undefined]);
    expect(bound.output).toMatch(/\d+ characters left out/);
    expect(utf8Bytes(JSON.stringify(bound.output))).toBeGreaterThan(6000);
  });

  test('that lists not all binds the rest by the digest of the saved state, and one that lists all needs none', () => {
    const files = Array.from({ length: 300 }, (_, index) => ({
      ...{ path: `folder/file-${index}.txt`, change: 'created' as const, bytes: 1, sha256: 'a'.repeat(64) },
    }));
    const [one, other] = ['1', '2'].map((digit) =>
      boundEffect({ ...effect(files), stateSha256: digit.repeat(64) }),
    );
    expect(one?.files).toEqual(other?.files);
    expect(digestedEffect('d', one ?? {})).not.toEqual(digestedEffect('d', other ?? {}));
    expect(boundEffect({ ...effect(files.slice(0, 3)), stateSha256: '1' })).toEqual(
      effect(files.slice(0, 3)),
    );
  });

  test('has no half of a character, for which there is no digest', () => {
    const bound = boundEffect(
      effect([{ path: 'a\ud800', change: 'created', diff: '+\ud800', bytes: 1 }], '\udc00'),
    );
    expect(JSON.stringify(bound)).not.toContain('\\ud');
    const link: EffectFile = { path: 'l', change: 'modified', bytes: 0, type: 'symlink' };
    const linked = boundEffect(effect([{ ...link, target: '\ud800', targetBefore: '\udc00' }]));
    expect(JSON.stringify(linked)).not.toContain('\\ud');
  });

  test('keeps what its diff did not show where there is no room for the diff', () => {
    const named = { type: 'file', mode: '755', sha256: 'a'.repeat(64) } as const;
    const files = ['a', 'b', 'c', 'd'].map(
      (path): EffectFile => ({ ...named, path, change: 'created', bytes: 6000, diff: '+'.repeat(6000) }),
    );
    const bound = boundEffect(effect(files));
    expect(bound.files.at(-1)).toEqual({ ...named, path: 'd', change: 'created', bytes: 6000 });
  });
});

test('what is removed or modified comes before new files, and keeps its diff', () => {
  const created = Array.from(
    { length: 60 },
    (_, index): EffectFile => ({
      ...{ path: `a${index}`, change: 'created', bytes: 500 },
      diff: '+'.repeat(500),
    }),
  );
  const removed: EffectFile = { path: 'z', change: 'removed', diff: '-gone', bytes: 4 };
  const bound = boundEffect({
    ...{ files: [...created, removed], exitCode: 0, output: '', hosts: [], durationMs: 1 },
  });
  expect(bound.files[0]).toEqual(removed);
});
