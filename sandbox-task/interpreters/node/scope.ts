/**
 * The global scope that user code finds: what `node -e` offers, `display`, and an `import` for code that is
 * no module.
 */
import { builtinModules, createRequire } from 'node:module';
import { constants, Script } from 'node:vm';
import type { Display } from './display.ts';
import { importName, metaName } from './module-syntax.ts';

export const prepareScope = (display: Display): void => {
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
  const load = importer.runInThisContext() as (specifier: string) => Promise<unknown>;
  withoutWarning(() => void load('node:path'));
  define(importName, load);
  for (const name of builtinModules) {
    if (!/^_|[/:]/.test(name) && !(name in globalThis)) defineLazily(name, () => require(name));
  }
  process.argv.splice(1);
};

/** The loader is called experimental at its first use, to whoever reads stderr. */
const withoutWarning = (act: () => void): void => {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  act();
  process.emitWarning = emitWarning;
};

const define = (name: string, value: unknown): void => {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
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
