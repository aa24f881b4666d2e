/**
 * The network that `--network` and `--inject` name: hosts, given one by one, or `none`; and the secrets that go into headers of requests
 * to them. The server judges hosts, headers and secrets.
 */
import type { Call } from './command.ts';
import { wrongUsage } from './failure.ts';

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

const ruleNamed = (text: string): Rule => {
  const [, host, header, secret] = /^([^/]+)\/([^=]+)=(.+)$/.exec(text) ?? [];
  if (host === undefined || header === undefined || secret === undefined)
    throw wrongUsage('--inject has the form <host>/<header>=<secret>, or none', [
      'The secret is named, not given: `sallyport secret set <name>` sets its value.',
    ]);
  return { host, header, secret };
};
