/** Options of a new session, which `chat`, `exec`, `code`, `shell` and `sessions create` share, and `sessions create` itself. */
import type { BodyOf } from '#sdk/route.ts';
import { api } from '#sdk/routes.ts';
import {
  type Call,
  type Command,
  dollars,
  given,
  none,
  pairsOf,
  value,
  values,
  wholeNumber,
} from '../runtime/command.ts';
import { wrongUsage } from '../runtime/failure.ts';
import { networkNamed } from '../runtime/network.ts';

const texts = {
  model: value,
  thinking: value,
  provider: value,
  approvals: value,
  runtime: value,
  flavor: value,
  template: value,
  agent: value,
  instructions: value,
  project: value,
  workspace: value,
} as const;

/** The limits of a slice, by their options. */
const limits = {
  'max-tokens': 'maxTotalTokens',
  'max-tool-calls': 'maxToolCalls',
  'max-sandbox-seconds': 'maxSandboxSeconds',
  'max-egress-bytes': 'maxEgressBytes',
} as const;

/** Of a session without an agent. */
export const newSandboxOptions = {
  ...{ template: value, flavor: value, project: value },
  ...{ env: values, network: values, inject: values },
} as const;

export const newSessionOptions = {
  ...texts,
  ...newSandboxOptions,
  'max-cost': value,
  ...{
    'max-tokens': value,
    'max-tool-calls': value,
    'max-sandbox-seconds': value,
    'max-egress-bytes': value,
  },
  label: values,
} as const;

const placeUsage = '[--env <NAME>=<value>…] [--network <host>…] [--inject <host>/<header>=<secret>…]';
export const newSandboxUsage = `[--template <name>] [--flavor <f>] [--project <id>] ${placeUsage}`;

export const newSessionUsage = `[--model <m>] [--thinking off|low|medium|high] [--provider <p>] [--approvals ask|effect|low|medium|high|auto] [--runtime builtin|opencode|acp] [--flavor <f>] [--template <name>] [--project <id>] [--workspace <id>] [--agent <name>] [--instructions <text>] [--max-cost <usd>] [--max-tokens <n>] [--max-tool-calls <n>] [--max-sandbox-seconds <n>] [--max-egress-bytes <n>] [--label <key>:<value>…] ${placeUsage}`;

type NewSession = BodyOf<typeof api.makeSession>;

/** Refuses, beside `--session`, the options that would change nothing in a session that exists. */
export const refuseBesideSession = (call: Call, allowed: readonly string[]): void => {
  if (call.text('session') === undefined) return;
  const conflicting = Object.keys(newSessionOptions).find(
    (name) => !allowed.includes(name) && (call.text(name) !== undefined || call.list(name).length > 0),
  );
  if (conflicting !== undefined) throw wrongUsage(`--${conflicting} cannot be combined with --session`);
};

export const newSessionOf = (call: Call): Omit<NewSession, 'kind' | 'from'> => {
  const [labels, env] = [call.list('label'), call.list('env')];
  return {
    ...given<NewSession>(Object.fromEntries(Object.keys(texts).map((name) => [name, call.text(name)]))),
    ...given<NewSession>({
      maxCostUsd: dollars(call.text('max-cost'), 'max-cost'),
      network: networkNamed(call),
    }),
    ...sliceOf(call),
    ...(labels.length === 0 ? {} : { labels: pairsOf(labels, ':', 'label') }),
    ...(env.length === 0 ? {} : { env: pairsOf(env, '=', 'env') }),
  };
};

const sliceOf = (call: Call): Pick<NewSession, 'slice'> => {
  const slice = given<NonNullable<NewSession['slice']>>(
    Object.fromEntries(
      Object.entries(limits).map(([option, field]) => [field, wholeNumber(call.text(option), option)]),
    ),
  );
  return Object.keys(slice).length === 0 ? {} : { slice };
};

/** One line of the help of each command that takes it. */
export const networkDetail =
  '--network names the hosts that a new sandbox may reach, within those of the project; --inject a rule of the project for a secret.';

const create = async (call: Call): Promise<undefined> => {
  const body: NewSession = { ...newSessionOf(call), ...given<NewSession>({ kind: call.text('kind') }) };
  const made = await call.request(api.makeSession, { body });
  call.output.result(made, () => [made.id]);
};

export const newSessionCommand: Command = {
  name: 'sessions create',
  usage: `[--kind agent|execution] ${newSessionUsage}`,
  summary: 'Create a session and print its id',
  details: [
    'An agent session is the default; an execution session has a sandbox and no agent.',
    networkDetail,
  ],
  options: { kind: value, ...newSessionOptions },
  positionals: none,
  run: create,
};
