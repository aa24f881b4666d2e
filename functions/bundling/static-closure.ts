/** The part of a build that the import of its entry loads: the entry, and the chunks that it imports without a condition. */
import type { Metafile } from 'esbuild';

export type Loaded = {
  readonly bytes: number;
  /** The sources of which there is code in it. */
  readonly inputs: readonly string[];
  /** Node's own modules that it imports by name. */
  readonly builtins: readonly string[];
};

export const loadedBy = ({ outputs }: Pick<Metafile, 'outputs'>): Loaded => {
  const waiting = Object.keys(outputs).filter((path) => path.endsWith('/index.mjs'));
  const loaded = new Set<string>();
  const builtins = new Set<string>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (loaded.has(path)) continue;
    loaded.add(path);
    const imports = (outputs[path]?.imports ?? []).filter(({ kind }) => kind === 'import-statement');
    waiting.push(...imports.filter(({ external }) => !external).map(({ path: next }) => next));
    for (const { path: name, external } of imports) if (external) builtins.add(name.replace('node:', ''));
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
    builtins: [...builtins],
  };
};
