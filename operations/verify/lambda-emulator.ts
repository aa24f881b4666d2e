/**
 * Execution environments of Lambda's runtime interface emulator, for the embedded cloud: each is a process of the emulator with one of
 * the runtime below it, which has the bundle of its function.
 */
import { dirname } from 'node:path';
import { inRepository } from '../../infra/constructs/repository-path.ts';
import type { Environment, SeparateEnvironment } from '../../local/lambda/environment.ts';
import type { Outcome } from '../../local/lambda/function.ts';
import { freePort, type Server, serve } from './programs.ts';

export type Emulated = {
  readonly start: (environment: SeparateEnvironment) => Environment;
  /** By the name of the function. */
  readonly counts: () => ReadonlyMap<string, Counts>;
};

type Counts = {
  readonly environments: number;
  readonly answered: number;
  /** The names of errors. */
  readonly failed: readonly string[];
};

const none: Counts = { environments: 0, answered: 0, failed: [] };

export const emulate = (emulator: string): Emulated => {
  const counts = new Map<string, Counts>();
  const change = (name: string, by: (counts: Counts) => Partial<Counts>): void => {
    const held = counts.get(name) ?? none;
    counts.set(name, { ...held, ...by(held) });
  };
  return {
    counts: () => counts,
    start: (environment) => {
      const { name } = environment.definition;
      change(name, ({ environments }) => ({ environments: environments + 1 }));
      const server = startEmulator(emulator, environment);
      // A start that fails is the failure of the first invocation.
      server.catch(() => undefined);
      return {
        run: async ({ payload }, sink) => {
          const { url } = await server;
          sink.started?.();
          const response = await fetch(`${url}${path}`, { method: 'POST', body: payload });
          const bytes = new Uint8Array(await response.arrayBuffer());
          const outcome = outcomeOf(bytes);
          if (outcome.kind === 'failed') {
            change(name, ({ failed }) => ({ failed: [...failed, outcome.error.errorMessage] }));
            return outcome;
          }
          change(name, ({ answered }) => ({ answered: answered + 1 }));
          sink.began('application/json');
          await sink.chunk(bytes);
          return outcome;
        },
        isReusable: () => true,
        stop: async () => {
          const started = await server.catch(() => undefined);
          await started?.[Symbol.asyncDispose]();
        },
      };
    },
  };
};

const path = '/2015-03-31/functions/function/invocations';

const startEmulator = async (
  emulator: string,
  { definition, variables }: SeparateEnvironment,
): Promise<Server> => {
  const runtimeApi = `127.0.0.1:${await freePort()}`;
  return serve({
    program: emulator,
    args: (port) => [
      ...['--runtime-interface-emulator-address', `127.0.0.1:${port}`],
      ...['--runtime-api-address', runtimeApi],
      ...[process.execPath, inRepository('operations/verify/runtime-client.ts'), 'index.handler'],
    ],
    folder: dirname(definition.entry),
    variables: () => ({
      ...variables,
      AWS_LAMBDA_FUNCTION_TIMEOUT: String(Math.ceil(definition.timeoutMs / 1000)),
    }),
  });
};

/** The emulator answers 200 with the error of a function as its body. */
const outcomeOf = (bytes: Uint8Array): Outcome => {
  const text = Buffer.from(bytes).toString();
  if (!text.startsWith('{"errorType"') && !text.startsWith('{"errorMessage"')) return { kind: 'finished' };
  const { errorType = '', errorMessage = '' } = JSON.parse(text) as Readonly<Record<string, string>>;
  return { kind: 'failed', error: { errorType, errorMessage } };
};
