/** Options of a new session, which `chat` and `sessions create` share, and `sessions create` itself. */
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

export const newSessionOptions = {
  ...texts,
  'max-cost': value,
  ...{
    'max-tokens': value,
    'max-tool-calls': value,
    'max-sandbox-seconds': value,
    'max-egress-bytes': value,
  },
  ...{ label: values, env: values },
} as const;

export const newSessionUsage =
  '[--model <m>] [--thinking off|low|medium|high] [--provider <p>] [--approvals ask|effect|low|medium|high|auto] [--runtime builtin|opencode|acp] [--flavor <f>] [--template <name>] [--project <id>] [--workspace <id>] [--agent <name>] [--instructions <text>] [--max-cost <usd>] [--max-tokens <n>] [--max-tool-calls <n>] [--max-sandbox-seconds <n>] [--max-egress-bytes <n>] [--label <key>:<value>…] [--env <NAME>=<value>…]';

type NewSession = BodyOf<typeof api.makeSession>;

/** Choices in words, as the command line has them. */
export const namedChoices = (call: Call): NewSession =>
  given<NewSession>(Object.fromEntries(Object.keys(texts).map((name) => [name, call.text(name)])));

export const newSessionOf = (call: Call): NewSession => {
  const [labels, env] = [call.list('label'), call.list('env')];
  const maxCostUsd = dollars(call.text('max-cost'), 'max-cost');
  return {
    ...namedChoices(call),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
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

const create = async (call: Call): Promise<undefined> => {
  const body = { ...newSessionOf(call), ...given<NewSession>({ kind: call.text('kind') }) };
  const made = await call.request(api.makeSession, { body });
  call.output.result(made, () => [made.id]);
};

export const newSessionCommand: Command = {
  name: 'sessions create',
  usage: `[--kind agent|execution] ${newSessionUsage}`,
  summary: 'Create a session and print its id',
  details: ['An agent session is the default; an execution session has a sandbox and no agent.'],
  options: { kind: value, ...newSessionOptions },
  positionals: none,
  run: create,
};
