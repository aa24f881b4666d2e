/**
 * The bundler: the container's programs, each as one file that needs nothing but Node or Python, and the system
 * call filters.
 *
 * `node sandbox-task/bundle.ts` writes `sandbox-task/dist/`, which the Dockerfile copies; the local host
 * calls `bundleSandbox` at its start. A build is stored below `node_modules` and reused while its sources are unchanged.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, type BuildResult, build, type Plugin } from 'esbuild';
import { cacheBuild } from './build-cache.ts';
import { machineNames, seccompFilter } from './confinement/filter.ts';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const kept = source('../node_modules/.sandbox');
/** The programs import of `shared`, and of packages as the lock file says. */
const sources = [source('../package-lock.json'), source('.'), source('../shared')];

/** The folder is a copy. */
export const bundleSandbox = async (folder: string): Promise<void> => {
  const built = await cacheBuild({ kept, sources, isHeld: false, buildInto });
  await cp(built, folder, { recursive: true });
};

/** The flags of the server's Node: small heaps. A compile cache is good for the flags that it was made with. */
export const serverFlags = ['--max-old-space-size=96', '--max-semi-space-size=1'] as const;

/** Of the server, below the folder of the programs. */
export const compileCache = 'compile-cache';

/**
 * An import of these into an ES module reads all that they export, and two of them then load the whole of `fetch`, which takes a
 * fifth of a start: they are asked of the process instead.
 */
/** An alias is one of what is below its name, too. */
const costlyBuiltins = ['crypto', 'fs', 'fs/promises', 'http', 'https'];
const alias = Object.fromEntries(
  costlyBuiltins.flatMap((name) => {
    const module = `data:text/javascript,module.exports=process.getBuiltinModule("${name}")`;
    return [name, `node:${name}`].map((specifier) => [specifier, module]);
  }),
);

/** The first command of a sandbox needs no hash and no random name of its runner, and this module takes a tenth of the runner's start. */
const cryptoOnUse = (() => {
  const names = JSON.stringify(Object.keys(process.getBuiltinModule('crypto')));
  const read = 'get:()=>process.getBuiltinModule("crypto")[name]';
  const module = `data:text/javascript,for(const name of ${names})Object.defineProperty(exports,name,{enumerable:true,${read}})`;
  return { crypto: module, 'node:crypto': module };
})();

const options = {
  alias,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  minify: true,
  keepNames: true,
  legalComments: 'none',
  logLevel: 'warning',
} as const satisfies BuildOptions;

/**
 * User code shares the global scope of its interpreter, and may declare `class Map` or `let process` there: the interpreter
 * uses the globals that it found at its start.
 */
const ownGlobals: Plugin = {
  name: 'own-globals',
  setup: ({ onResolve, onLoad }) => {
    const path = 'own-globals';
    const names = Object.getOwnPropertyNames(globalThis).filter((name) => globalName.test(name));
    const lines = names.map((name) => `export const ${name} = /* @__PURE__ */ (() => realm.${name})();`);
    onResolve({ filter: /^own-globals$/ }, () => ({ path, namespace: path }));
    onLoad({ filter: /^/, namespace: path }, () => ({
      contents: `const realm = global;\n${lines.join('\n')}`,
      loader: 'js',
    }));
  },
};

const globalName = /^(?!(?:undefined|NaN|Infinity|eval|global)$)[A-Za-z_]\w*$/;

const buildInto = async (folder: string): Promise<void> => {
  const server: Record<(typeof serverParts)[number], string> = {
    server: source('./server/main.ts'),
    routes: source('./server/served-routes.ts'),
    protocol: source('./server/protocol.ts'),
    agents: source('./server/agent/agents.ts'),
  };
  const runner = { runner: source('./runner/main.ts') };
  const interpreter = { 'node-interpreter': source('./interpreters/node/main.ts') };
  const modules = { ...options, outExtension: { '.js': '.mjs' } };
  await writeServer(folder, await build({ ...modules, ...split, outdir: folder, entryPoints: server }));
  await build({ ...modules, alias: { ...alias, ...cryptoOnUse }, outdir: folder, entryPoints: runner });
  await build({
    ...modules,
    ...{ outdir: folder, entryPoints: interpreter, inject: ['own-globals'], plugins: [ownGlobals] },
  });
  // Without an extension, as a command has none, Node reads it as CommonJS.
  const client = join(folder, 'sallyport-client');
  const command = { format: 'cjs', banner: { js: '#!/usr/bin/env node' } } as const;
  await build({ ...options, ...command, outfile: client, entryPoints: [source('./client/main.ts')] });
  await chmod(client, 0o755);
  const python = source('./interpreters/python');
  await copyFile(join(python, 'interpreter.py'), join(folder, 'python-interpreter.py'));
  for (const name of [
    'sallyport_charts.py',
    'sallyport_errors.py',
    'sallyport_imports.py',
    'sallyport_results.py',
    'sallyport_tables.py',
  ])
    await copyFile(join(python, name), join(folder, name));
  await copyFile(source('./runner/process/terminal.py'), join(folder, 'terminal.py'));
  await copyFile(source('./confinement/confine.py'), join(folder, 'confine.py'));
  for (const architecture of ['x64', 'arm64'] as const)
    await writeFile(filterFile(folder, architecture), seccompFilter(architecture));
  await writeCompileCache(folder);
};

const sharedFile = (parts: string): string => `shared-${parts}.mjs`;

/** The parts of the server: the one that starts it, what it loads then, and what the first request of a kind loads. */
const serverParts = ['server', 'routes', 'protocol', 'agents'] as const;

/** Their files, and one for each group of parts that share code. */
export const serverFiles = [
  ...serverParts.map((part) => `${part}.mjs`),
  ...['server-routes', 'server-routes-agents', 'server-routes-protocol-agents'].map(sharedFile),
  ...['routes-protocol', 'routes-agents', 'routes-protocol-agents'].map(sharedFile),
] as readonly string[];

const split = {
  splitting: true,
  write: false,
  metafile: true,
} as const satisfies BuildOptions;

/** Another file than those that are known would fail the build, and no sandbox would lack it. */
const writeServer = async (
  folder: string,
  { outputFiles, metafile: { outputs } }: BuildResult<typeof split>,
): Promise<void> => {
  const loads = serverParts.map((part) => [part, loadedBy(outputs, `${part}.mjs`)] as const);
  const names = new Map(
    Object.entries(outputs).map(([path, { entryPoint }]) => {
      const users = loads.filter(([, loaded]) => loaded.has(path)).map(([part]) => part);
      return [basename(path), entryPoint === undefined ? sharedFile(users.join('-')) : basename(path)];
    }),
  );
  const written = new Set(names.values());
  if (names.size !== serverFiles.length || serverFiles.some((name) => !written.has(name)))
    throw new Error(`the server was split into ${[...written].join(', ')}`);
  await Promise.all(
    outputFiles.map(({ path, text }) =>
      writeFile(
        join(folder, names.get(basename(path)) ?? ''),
        [...names].reduce((renamed, [name, to]) => renamed.replaceAll(name, to), text),
      ),
    ),
  );
};

type Outputs = BuildResult<typeof split>['metafile']['outputs'];

/** All that a part loads before its first line runs. */
const loadedBy = (outputs: Outputs, part: string): ReadonlySet<string> => {
  const loaded = new Set(Object.keys(outputs).filter((path) => basename(path) === part));
  for (const path of loaded)
    for (const { kind, path: imported } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && imported in outputs) loaded.add(imported);
  return loaded;
};

/** The server loads its code and refuses to go on without settings; what was compiled until then is kept. */
const writeCompileCache = async (folder: string): Promise<void> => {
  const env = { NODE_COMPILE_CACHE: join(folder, compileCache), NODE_COMPILE_CACHE_PORTABLE: '1' };
  for (const file of serverFiles) {
    const child = spawn(process.execPath, [...serverFlags, join(folder, file)], { env, stdio: 'ignore' });
    await once(child, 'exit');
  }
};

/** Named as confine.py looks for it. */
export const filterFile = (folder: string, processor: string): string => {
  const machine = machineNames.get(processor);
  if (machine === undefined) throw new Error(`there is no system call filter for ${processor} processors`);
  return join(folder, `user-${machine}.bpf`);
};

/** Each file is replaced at once: another program may read the folder concurrently. The image copies all: those of an older build go. */
export const replaceFiles = async (folder: string): Promise<void> => {
  await mkdir(kept, { recursive: true });
  const fresh = await mkdtemp(join(kept, 'new-'));
  await bundleSandbox(fresh);
  // The image makes its own, for its processor and its Node.
  await rm(join(fresh, compileCache), { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const names = await readdir(fresh);
  for (const name of names) await rename(join(fresh, name), join(folder, name));
  for (const name of await readdir(folder))
    if (!names.includes(name)) await rm(join(folder, name), { recursive: true, force: true });
  await rm(fresh, { recursive: true });
};

if (import.meta.main) await replaceFiles(source('./dist'));
