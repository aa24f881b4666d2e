/** The global scope of user code: that of the REPL of Node, `display`, and an `import` for code that is not a module. */
import { builtinModules, createRequire } from 'node:module';
import { constants, Script } from 'node:vm';
import type { Results } from './results.ts';
import { importName, metaName } from './rewrite-code.ts';

export const prepareScope = (display: Results['display']): void => {
  const folder = process.cwd();
  const require = createRequire(`${folder}/[code]`);
  define('display', display);
  define('require', require);
  define('module', { exports: {} });
  define('exports', {});
  define('__dirname', folder);
  define('__filename', `${folder}/[code]`);
  define(metaName, { dirname: folder, filename: `${folder}/[code]`, url: `file://${folder}/[code]` });
  // Its name decides what relative specifiers are relative to.
  const importer = new Script('(specifier, options) => import(specifier, options)', {
    filename: `${folder}/[code]`,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const load = importer.runInThisContext() as Load;
  withoutWarning(() => void load('node:path'));
  define(importName, importWith(load));
  for (const name of builtinModules) {
    if (!/^_|[/:]/.test(name) && !(name in globalThis)) defineLazily(name, () => require(name));
  }
  Object.defineProperty(globalThis, '_', {
    configurable: true,
    get: () => lastValue,
    set: (value: unknown) => define('_', value),
  });
  process.argv.splice(1);
};

type Load = (specifier: string, options?: ImportCallOptions) => Promise<object>;

/** Refuses a name that the module does not have, as a static import does. */
const importWith =
  (load: Load) =>
  async (specifier: string, options?: ImportCallOptions, names: readonly string[] = []): Promise<object> => {
    const loaded = await load(specifier, options);
    const missing = names.find((name) => !(name in loaded));
    if (missing === undefined) return loaded;
    throw new SyntaxError(
      `The requested module '${specifier}' does not provide an export named '${missing}'`,
    );
  };

/** Node warns on stderr at the first use of what is experimental. */
export const withoutWarning = <Result>(act: () => Result): Result => {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return act();
  } finally {
    process.emitWarning = emitWarning;
  }
};

const define = (name: string, value: unknown): void => {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
};

let lastValue: unknown;

/** `_`, until code gives this name another value. */
export const keepLastValue = (value: unknown): void => {
  lastValue = value;
};

const defineLazily = (name: string, load: () => unknown): void => {
  Object.defineProperty(globalThis, name, {
    configurable: true,
    get: () => {
      const value = load();
      define(name, value);
      return value;
    },
    set: (value: unknown) => define(name, value),
  });
};
