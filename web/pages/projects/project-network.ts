/** Texts of the project form for its network: hosts, and rules as `host header SECRET`, one in each line. Pure. */
import type { Project } from '#sdk/routes.ts';

type Network = Project['network'];
export type NetworkDraft = { hosts: string; inject: string };

export const networkDraftOf = (network: Network = 'none'): NetworkDraft => {
  const { allow = [], inject = [] } = network === 'none' ? {} : network;
  return {
    hosts: allow.join('\n'),
    inject: inject.map(({ host, header, secret }) => `${host} ${header} ${secret}`).join('\n'),
  };
};

/** Null: none. The server judges hosts, headers and names. */
export const networkOfDraft = ({ hosts, inject }: NetworkDraft): Exclude<Network, 'none'> | null => {
  const allow = hosts.split(/[\s,]+/).filter((host) => host !== '');
  if (allow.length === 0) return null;
  const rules = linesOf(inject).map(([host = '', header = '', secret = '']) => ({ host, header, secret }));
  return { allow: [...new Set(allow)], inject: rules };
};

export const networkProblems = ({ hosts, inject }: NetworkDraft): { readonly inject?: string } => {
  const lines = linesOf(inject);
  if (lines.some(({ length }) => length !== 3))
    return { inject: 'Write host, header and secret in each line.' };
  return lines.length > 0 && hosts.trim() === '' ? { inject: 'List the hosts above first.' } : {};
};

const linesOf = (text: string): readonly (readonly string[])[] =>
  text
    .split('\n')
    .map((line) => line.split(/\s+/).filter((word) => word !== ''))
    .filter(({ length }) => length > 0);
