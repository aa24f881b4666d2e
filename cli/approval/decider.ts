/** The decider of a call, in words: a person by name, a token and a grant as such, a policy by its mode. */
import type { SessionGrant } from '#sdk/routes.ts';

export const deciderName = ({ kind, id, name = id }: SessionGrant['by']): string => {
  if (kind === 'policy') return `the mode ${id}`;
  return kind === 'person' ? name : `the ${kind} ${name}`;
};
