import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, Stack } from 'aws-cdk-lib';
import { CfnTaskDefinition } from 'aws-cdk-lib/aws-ecs';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { environments, type FunctionName } from '#shared/config/environment.ts';
import { flavors } from '#shared/domain/flavor.ts';
import { bundleHandlers } from '../../functions/bundle.ts';
import { named } from '../../functions/bundling/lighter-libraries.ts';
import { type Loaded, loadedBy } from '../../functions/bundling/static-closure.ts';
import { inRepository } from '../constructs/repository-path.ts';
import { type Settings, settingsOf, stages } from '../settings.ts';
import { synthesise } from './synthesise.ts';

describe('the app', () => {
  test('passes the rules of cdk-nag and of the CloudFormation schema', () => {
    expect(Object.keys(synthesise({ withSchemaRules: true }))).toEqual([
      'data',
      'network',
      'compute',
      'edge',
      'observability',
    ]);
  });

  test('is refused when a queue without encryption in transit is added', () => {
    const alter = (app: App): void => void new Queue(new Stack(app, 'careless'), 'Queue');
    expect(() => synthesise({ alter })).toThrow(/validation/i);
  });

  const sizes =
    (...tasks: readonly { readonly cpuUnits: number; readonly memoryMib: number }[]) =>
    (app: App) => {
      const stack = new Stack(app, 'sized');
      for (const { cpuUnits, memoryMib } of tasks)
        new CfnTaskDefinition(stack, `Task${cpuUnits}With${memoryMib}`, {
          cpu: String(cpuUnits),
          memory: String(memoryMib),
          requiresCompatibilities: ['FARGATE'],
          networkMode: 'awsvpc',
        });
    };

  test('takes every flavor: Fargate sells its size', () => {
    const alter = sizes(...Object.values(flavors).map(({ task }) => task));
    expect(() => synthesise({ withSchemaRules: true, alter })).not.toThrow();
  });

  test('is refused when one task has a size that Fargate does not sell', () => {
    const tasks = [...Object.values(flavors).map(({ task }) => task), { cpuUnits: 512, memoryMib: 8192 }];
    expect(() => synthesise({ withSchemaRules: true, alter: sizes(...tasks) })).toThrow(/validation/i);
  });

  test('of the hardened stage passes them, too', () => {
    const stacks = Object.keys(synthesise({ settings: stages.hardened, withSchemaRules: true }));
    expect(stacks).toEqual(['data', 'network', 'compute', 'edge', 'observability', 'firewall']);
  });
});

describe('settings', () => {
  test('an invalid value stops the synth with the program’s own message', () => {
    expect(() => synthesise({ settings: { variables: { MAX_STEPS_PER_TURN: '501' } } })).toThrow(
      'infra/settings.ts: MAX_STEPS_PER_TURN="501" is not allowed: set it to a whole number from 1 to 500',
    );
  });

  test('half an OIDC issuer does not compile, and an invalid one stops the synth', () => {
    // @ts-expect-error: audience is missing
    const half: Partial<Settings> = { oidc: { issuer: 'https://id.example.com' } };
    expect(() => synthesise({ settings: half })).toThrow(
      'infra/settings.ts: OIDC_AUDIENCE is required with OIDC_ISSUER: set it to a text of 1 to 2048 characters',
    );
    const oidc = { issuer: 'http://id.example.com', audience: 'sallyport' };
    expect(() => synthesise({ settings: { oidc } })).toThrow(
      'OIDC_ISSUER="http://id.example.com" is not allowed',
    );
  });

  test('logs are retained for a period that CloudWatch Logs supports', () => {
    expect(() => synthesise({ settings: { logDays: 31 } })).toThrow(
      /^infra\/settings.ts: logDays=31 is not allowed: set it to one of 1, 3, 5, 7, 14, 30, 60,/,
    );
  });

  test('an unknown stage is refused with a list of stages', () => {
    expect(() => settingsOf('test')).toThrow(
      'there is no stage "test": one of production, staging, hardened',
    );
  });

  test('two stages share no name', () => {
    const names = (deployment: string): readonly string[] =>
      JSON.stringify(synthesise({ settings: { deployment } })).match(
        /"(FunctionName|Family|TableName|DashboardName|RoleName)":"[^"]+"/g,
      ) ?? [];
    expect(names('one')).toEqual([
      '"Family":"one-python"',
      '"Family":"one-node"',
      '"FunctionName":"one-turn"',
      '"FunctionName":"one-terminal"',
      '"FunctionName":"one-schedules"',
      '"FunctionName":"one-relay"',
    ]);
    expect(names('two')).toEqual([
      '"Family":"two-python"',
      '"Family":"two-node"',
      '"FunctionName":"two-turn"',
      '"FunctionName":"two-terminal"',
      '"FunctionName":"two-schedules"',
      '"FunctionName":"two-relay"',
    ]);
  });
});

describe('a bundle', () => {
  const functionNames = Object.keys(environments) as FunctionName[];
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bundles-'));
  let bundles: ReadonlyMap<FunctionName, Metafile>;
  beforeAll(async () => {
    bundles = await bundleHandlers(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const valid: Record<string, string> = {
    ADMIN_TOKEN_SHA256: 'a'.repeat(64),
    CONNECTIONS_URL: 'https://api.example.com/ws',
    SANDBOX_ADDRESS_RANGE: '10.77.0.0/16',
    SANDBOX_SECRET: 's'.repeat(32),
  };
  const environmentOf = (name: FunctionName): Record<string, string> =>
    Object.fromEntries(
      Object.entries(environments[name].shape).flatMap(([key, schema]) =>
        schema.safeParse(undefined).success ? [] : [[key, valid[key] ?? 'name']],
      ),
    );
  /** The variables that the Lambda runtime defines before it loads a handler. */
  const runtime =
    'globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: {} };';

  test.each(functionNames)('of %s starts in Node with nothing beside it and has a handler', (name) => {
    const start = join(folder, name, 'start.mjs');
    writeFileSync(
      start,
      `${runtime} const { handler } = await import('./index.mjs'); process.stdout.write(typeof handler);`,
    );
    const env = { ...environmentOf(name), AWS_REGION: 'eu-central-1' };
    expect(execFileSync(process.execPath, [start], { env, encoding: 'utf8' })).toBe('function');
  });

  /** The code that a start loads, in kB at most: a hundredth above its size when this was written (docs/performance.md, "A start"). */
  const loadedKbMax: Readonly<Record<FunctionName, number>> = {
    ...{ authorizer: 386, socket: 576, 'on-connected': 492, terminal: 498, turn: 835, relay: 562 },
    ...{ 'sandbox-link': 460, 'task-events': 517, janitor: 870, schedules: 617, webhooks: 371 },
    ...{ api: 1209, mcp: 1320, synthetic: 355 },
  };

  const loadedOf = (name: FunctionName): Loaded => {
    const metafile = bundles.get(name);
    if (metafile === undefined) throw new Error(`there is no bundle of ${name}`);
    return loadedBy(metafile);
  };

  test.each(functionNames)('of %s loads a bounded size at a start', (name) => {
    expect(loadedOf(name).bytes / 1000).toBeLessThan(loadedKbMax[name]);
  });

  test.each(functionNames)('of %s starts without the HTTP/2 of Node', (name) => {
    expect(loadedOf(name).builtins).not.toContain('http2');
  });

  test('keeps the names of the classes that a library asks itself for', () => {
    const libraries = [...bundles.values()]
      .flatMap(({ outputs }) => Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs)))
      .filter((path) => path.startsWith('node_modules/'));
    const asking = [...new Set(libraries)].filter((path) =>
      /\b(?:this\.constructor|new\.target)\.name\b/.test(readFileSync(inRepository(path), 'utf8')),
    );
    // Its only use is in the text of an error for an author of protocols.
    const known = 'node_modules/@smithy/core/dist-es/submodules/protocols/HttpProtocol.js';
    expect(asking.filter((path) => path !== known && !named.test(path))).toEqual([]);
    expect(asking.filter((path) => named.test(path))).not.toEqual([]);
  });
});
