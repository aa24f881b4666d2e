/**
 * The functions of the program as the embedded cloud deploys them: what the compute stack is on AWS.
 *
 * Each gets the variables that its own contract names, and the start is refused with one line if a value
 * is missing or bad, before anything answers.
 */
import { join } from 'node:path';
import { environments, type FunctionName, readEnvironment } from '#shared/config/environment.ts';
import type { Variables } from '#shared/config/settings.ts';
import type { FunctionDefinition } from './lambda/function-definition.ts';

export type DeployedFunctionsOptions = {
  /** The folder with one folder per function. */
  readonly folder: string;
  /** Everything that any function may ask for by name. */
  readonly variables: Variables;
  /** `AWS_ENDPOINT_URL_*` and what else the SDKs read by themselves: every function gets them. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** A turn hands over before it; the longest that Lambda allows when absent, in milliseconds. */
  readonly turnTimeoutMs?: number | undefined;
};

export const functionNamed = (name: FunctionName): string => `sallyport-${name}`;

const secondMs = 1000;
const minuteMs = 60_000;
/** The longest that Lambda allows: a turn hands over before it, a stream ends with it. */
const longestMs = 15 * minuteMs;

const timeouts: Readonly<Record<FunctionName, number>> = {
  authorizer: 10 * secondMs,
  socket: 29 * secondMs,
  greeter: minuteMs,
  turn: longestMs,
  'sandbox-link': longestMs,
  'task-events': minuteMs,
  janitor: 5 * minuteMs,
  schedules: 5 * minuteMs,
  webhooks: 3 * minuteMs,
  api: longestMs,
  mcp: longestMs,
  synthetic: 5 * minuteMs,
};

const memoryMb = 512;

export const deployedFunctions = (options: DeployedFunctionsOptions): readonly FunctionDefinition[] =>
  (Object.keys(environments) as FunctionName[]).map((name) => ({
    name: functionNamed(name),
    entry: join(options.folder, name, 'handler.ts'),
    environment: { ...environmentOf(name, options.variables), ...options.endpoints },
    timeoutMs: name === 'turn' ? (options.turnTimeoutMs ?? timeouts.turn) : timeouts[name],
    memoryMb,
  }));

const environmentOf = (name: FunctionName, variables: Variables): Record<string, string> => {
  readEnvironment(name, variables);
  const keys = Object.keys(environments[name].shape);
  return Object.fromEntries(keys.flatMap((key) => (variables[key] ? [[key, variables[key]]] : [])));
};
