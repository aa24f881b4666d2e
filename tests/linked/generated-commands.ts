/**
 * Generated shell commands over a few awkward names: contents, folders, links, modes, moves and deletions in any order. They
 * are deterministic: no clock, no random number, no network.
 */
import fc from 'fast-check';
import { shellWord } from '../shell-word.ts';

const names = [
  'a',
  'b c',
  'ü',
  "it's",
  '-n',
  '.hidden',
  'd',
  'd/e',
  'd/e/f',
  'd/ü',
  'a/x',
  'line\nbreak',
  '*',
];
const path = fc.constantFrom(...names).map((name) => shellWord(`./${name}`));
const text = fc.constantFrom('', 'x', 'one\\ntwo\\n', 'ü\\000\\377', '%%');
const mode = fc.constantFrom(
  '644',
  '600',
  '755',
  '700',
  '555',
  '500',
  '444',
  '400',
  '777',
  '000',
  '111',
  '311',
);

const step = fc.oneof(
  fc.tuple(text, path).map(([content, to]) => `printf '${content}' > ${to}`),
  fc.tuple(text, path).map(([content, to]) => `printf '${content}' >> ${to}`),
  path.map((at) => `mkdir -p ${at}`),
  path.map((at) => `rm -rf ${at}`),
  path.map((at) => `rm -f ${at}`),
  path.map((at) => `rmdir ${at}`),
  fc.tuple(path, path).map(([from, to]) => `mv -T ${from} ${to}`),
  fc.tuple(path, path).map(([from, to]) => `cp -aT ${from} ${to}`),
  fc.tuple(path, path).map(([from, to]) => `ln -f ${from} ${to}`),
  fc.tuple(path, path).map(([target, at]) => `ln -sfT ${target} ${at}`),
  fc.tuple(mode, path).map(([bits, at]) => `chmod ${bits} ${at}`),
  fc.tuple(mode, path).map(([bits, at]) => `chmod -R ${bits} ${at}`),
  fc.tuple(fc.nat(70_000), path).map(([size, at]) => `truncate -s ${size} ${at}`),
  fc.tuple(fc.nat(300_000), path).map(([size, at]) => `yes sallyport | head -c ${size} > ${at}`),
  path.map((at) => `sed -i 's/one/1/' ${at}`),
  path.map((at) => `touch -d '2001-02-03 04:05:06' ${at}`),
  path.map((at) => `{ find . -type f -print0 | LC_ALL=C sort -z | xargs -0 cat | wc -c; } > ${at}`),
);

/** A step that fails does not end the command, as in most scripts. */
const command = fc
  .array(step, { minLength: 1, maxLength: 6 })
  .map((steps) => [...steps.map((one) => `${one} 2>/dev/null`), 'true'].join('; '));

export const generatedCommands = (count: number, seed: number): readonly string[] =>
  fc.sample(command, { numRuns: count, seed });
