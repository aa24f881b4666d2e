/** The network that `--network` names: hosts, given one by one, or `none`. The server judges the hosts. */

export const networkNamed = (hosts: readonly string[]): 'none' | { readonly allow: string[] } | undefined => {
  if (hosts.length === 0) return undefined;
  return hosts.includes('none') ? 'none' : { allow: [...hosts] };
};
