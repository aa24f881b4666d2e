/** The decider of a call, in words: a person by name, a token and a grant as such, a policy by its mode. */
export type Decider = { readonly kind?: unknown; readonly id?: unknown; readonly name?: unknown };

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export const deciderName = ({ kind, id, name }: Decider): string => {
  if (kind === 'policy') return `the mode ${text(id)}`;
  if (kind === 'person') return text(name) || text(id);
  return `the ${text(kind)} ${text(name) || text(id)}`;
};
