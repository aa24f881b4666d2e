/**
 * The network that `--network` and `--inject` name: hosts, given one by one, or `none`; and the secrets that go into headers of requests
 * to them, as they are read and shown. The server judges hosts, headers and secrets.
 */
import type { Call } from './command.ts';
import { wrongUsage } from './failure.ts';
import type { Cell } from './output.ts';

type Rule = { readonly host: string; readonly header: string; readonly secret: string };
type NamedNetwork = 'none' | { readonly allow: string[]; readonly inject?: Rule[] };

const none = 'none';

/** Undefined where no option names any: the network stays as it is. */
export const networkNamed = (call: Call): NamedNetwork | undefined => {
  const hosts = call.list('network');
  const rules = call.list('inject');
  if (hosts.length === 0 && rules.length > 0)
    throw wrongUsage('--inject needs --network: hosts and rules are replaced together');
  if (hosts.length === 0) return undefined;
  if (hosts.includes(none)) {
    if (hosts.some((host) => host !== none))
      throw wrongUsage('--network none and a host exclude each other', [
        'Give --network none alone for no network, or only the hosts.',
      ]);
    if (rules.some((rule) => rule !== none))
      throw wrongUsage('--network none has no host for the rule of --inject');
    return none;
  }
  const inject = rules.filter((rule) => rule !== none).map(ruleNamed);
  return { allow: [...hosts], ...(rules.length === 0 ? {} : { inject }) };
};

type ShownNetwork =
  | 'none'
  | { readonly allow: readonly string[]; readonly inject?: readonly Rule[] | undefined };

export const networkFacts = (network: ShownNetwork | undefined): readonly (readonly [string, Cell])[] => {
  const { allow, inject = [] } = network === undefined || network === 'none' ? { allow: [] } : network;
  return [
    ['hosts', allow.length === 0 ? none : allow.join(', ')],
    ...inject.map(({ host, header, secret }) => ['secret', `${secret} in ${header} of ${host}`] as const),
  ];
};

const ruleNamed = (text: string): Rule => {
  const [, host, header, secret] = /^([^/]+)\/([^=]+)=(.+)$/.exec(text) ?? [];
  if (host === undefined || header === undefined || secret === undefined)
    throw wrongUsage('--inject has the form <host>/<header>=<secret>, or none', [
      'The secret is named, not given: `sallyport secret set <name>` sets its value.',
    ]);
  return { host, header, secret };
};
