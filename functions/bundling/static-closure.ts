/** The part of a build that the import of its entry loads: the entry, and the chunks that it imports without a condition. */
import type { Metafile } from 'esbuild';

export type Loaded = {
  readonly bytes: number;
  /** The sources of which there is code in it. */
  readonly inputs: readonly string[];
};

export const loadedBy = ({ outputs }: Pick<Metafile, 'outputs'>): Loaded => {
  const waiting = Object.keys(outputs).filter((path) => path.endsWith('/index.mjs'));
  const loaded = new Set<string>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (loaded.has(path)) continue;
    loaded.add(path);
    for (const { kind, path: next, external } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && !external) waiting.push(next);
  }
  const parts = [...loaded].flatMap((path) => outputs[path] ?? []);
  return {
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    inputs: [
      ...new Set(
        parts.flatMap(({ inputs }) =>
          Object.entries(inputs).flatMap(([input, { bytesInOutput }]) => (bytesInOutput > 0 ? [input] : [])),
        ),
      ),
    ],
  };
};
