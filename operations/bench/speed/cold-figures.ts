/** The cold start of every function: the code that its start loads and the CPU time of that, beside its libraries alone. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Metafile } from 'esbuild';
import { environments, type FunctionName } from '#shared/config/environment.ts';
import { bundleHandler, bundleProgram } from '../../../functions/bundle.ts';
import { loadedBy } from '../../../functions/bundling/static-closure.ts';
import { deployedFunctions, functionNamed, functionVariables } from '../../../local/deployed-functions.ts';
import { beside } from './beside.ts';
import type { Figure, Target } from './figures.ts';
import { libraryEntry } from './library-entry.ts';
import { repository } from './platform.ts';

const kilobyte = 1000;
/** The size of the least function's libraries when the bounds of these two were set. */
const smallestKb = 454;
const bounds: Readonly<Partial<Record<FunctionName, number>>> = {
  socket: 1.3 * smallestKb,
  authorizer: 1.3 * smallestKb,
  turn: 900,
};

export const coldFigures = async (tries: number): Promise<readonly Figure[]> => {
  const folder = join(repository, 'node_modules', '.cache', `bench-${process.pid}`);
  await mkdir(folder, { recursive: true });
  try {
    const figures: Figure[] = [];
    for (const name of Object.keys(environments) as FunctionName[])
      figures.push(...(await coldStart(name, { folder: join(folder, name), tries })));
    return figures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

type Where = { readonly folder: string; readonly tries: number };

const coldStart = async (name: FunctionName, { folder, tries }: Where): Promise<readonly Figure[]> => {
  const own = join(folder, 'own');
  const libraries = join(folder, 'libraries');
  const bundled = loadedBy(await bundleHandler(name, own));
  const sources = bundled.inputs.filter((path) => !path.startsWith('node_modules/') && path.endsWith('.ts'));
  const texts = await Promise.all(
    sources.map(async (path) => ({ path, text: await readFile(resolve(repository, path), 'utf8') })),
  );
  const floorBytes = sizeOf(await bundleProgram(libraryEntry(texts), libraries));
  const bound = bounds[name];
  const sizeTarget: { readonly target?: Target } =
    bound === undefined ? {} : { target: { of: 'value', is: 'at most', bound } };
  return [
    {
      ...{
        name: `${name}: code loaded at a start`,
        unit: 'kB',
        value: bundled.bytes / kilobyte,
        ...sizeTarget,
      },
      floor: { name: 'its libraries', before: floorBytes / kilobyte, after: floorBytes / kilobyte },
    },
    await beside({
      ...{ name: `${name}: cold import`, unit: 'ms of CPU', tries },
      measure: () => importCpuMs(own, environmentOf(name)),
      floor: { name: 'its libraries', measure: () => importCpuMs(libraries, {}) },
      target: { of: 'ratio', is: 'at most', bound: 1.5 },
    }),
  ];
};

const sizeOf = (metafile: Metafile): number => loadedBy(metafile).bytes;

const execute = promisify(execFile);

/** In a process of its own, without a compile cache: as Lambda does it. */
const importCpuMs = async (folder: string, env: Readonly<Record<string, string>>): Promise<number> => {
  const url = JSON.stringify(pathToFileURL(join(folder, 'index.mjs')).href);
  const program = `globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: {} };
    const before = process.cpuUsage();
    await import(${url});
    const { user, system } = process.cpuUsage(before);
    process.stdout.write(String((user + system) / 1000) + '\\n', () => process.exit(0));`;
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', program], { env });
  return Number(stdout.trim().split('\n').at(-1));
};

const secret = 'a secret of at least thirty-two characters';

const environmentOf = (name: FunctionName): Readonly<Record<string, string>> => {
  const variables = functionVariables({
    ...{ token: createHash('sha256').update(secret).digest('hex'), sandboxSecret: secret },
    ...{ connectionsUrl: 'https://example.com', limits: 'enforced', sealKeyFile: '/nonexistent' },
    variables: {},
  });
  const functions = deployedFunctions({ entryOf: () => '/', variables, endpoints: {} });
  const { environment } = functions.find((one) => one.name === functionNamed(name)) ?? { environment: {} };
  return { AWS_REGION: 'eu-central-1', ...environment };
};
