/** Filters of the sessions page, as fields and as part of the address. Pure. */
import type { Session } from '#sdk/routes.ts';
import { statusLabel } from '#shared/domain/status-label.ts';
import { isAsking } from '../../waiting/sessions-awaiting-approval.ts';
import { hasEnded } from './session-tree.ts';

export type Filters = {
  readonly search: string;
  readonly state: string;
  readonly kind: string;
  readonly project: string;
  /** As `key:value`. */
  readonly label: string;
};

export const noFilters: Filters = { search: '', state: '', kind: '', project: '', label: '' };

export const stateOptions = [
  { value: '', label: 'All' },
  { value: 'active', label: 'Active' },
  { value: 'waiting', label: 'Needs approval' },
  { value: 'running', label: 'Running' },
  { value: 'ended', label: 'Ended' },
  { value: 'failed', label: 'Failed' },
  { value: 'archived', label: 'Archived' },
] as const;

export const kindOptions = [
  { value: '', label: 'All' },
  { value: 'agent', label: 'Agents' },
  { value: 'execution', label: 'Executions' },
] as const;

const states: Readonly<Record<string, (session: Session) => boolean>> = {
  active: (session) => !hasEnded(session),
  waiting: isAsking,
  running: ({ status }) => status === 'running' || status === 'creating',
  ended: hasEnded,
  failed: ({ status, lastStopReason }) =>
    status === 'failed' || status === 'error' || (status === 'idle' && lastStopReason === 'error'),
};

/** Each as `key:value`, by name. */
export const labelsOf = ({ labels }: Pick<Session, 'labels'>): readonly string[] =>
  Object.entries(labels)
    .map(([key, value]) => `${key}:${value}`)
    .toSorted();

/** The label that is chosen, and those of the sessions. */
export const labelOptions = (sessions: readonly Session[], chosen: string) => {
  const all = new Set([...sessions.flatMap(labelsOf), ...(chosen === '' ? [] : [chosen])]);
  return [{ value: '', label: 'All' }, ...[...all].toSorted().map((value) => ({ value, label: value }))];
};

/** Values of an address; what it does not name, or what no field has, is not filtered. */
export const filtersFrom = (query: Readonly<Record<string, unknown>>): Filters => {
  const textOf = (name: keyof Filters): string => {
    const value = query[name];
    return typeof value === 'string' ? value : '';
  };
  const oneOf = (name: 'state' | 'kind', options: readonly { readonly value: string }[]): string =>
    options.some(({ value }) => value === query[name]) ? textOf(name) : '';
  return {
    ...{ search: textOf('search'), project: textOf('project'), label: textOf('label') },
    ...{ state: oneOf('state', stateOptions), kind: oneOf('kind', kindOptions) },
  };
};

/** Without the fields that filter nothing. */
export const filtersQuery = (filters: Filters): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));

/**
 * The text of a session that a search looks into, made once for each session: a letter that is typed costs no more than a look
 * into each. `about`: more of it, such as the title and the project's name.
 */
export const searchTexts = (about: (session: Session) => string): ((session: Session) => string) => {
  const texts = new WeakMap<Session, string>();
  return (session) => {
    const known = texts.get(session);
    if (known !== undefined) return known;
    const { id, model, provider, flavor, workspace } = session;
    const text =
      `${id} ${workspace} ${model} ${provider} ${flavor} ${statusLabel(session)} ${about(session)}`.toLowerCase();
    texts.set(session, text);
    return text;
  };
};

export const matcherOf = (
  { search, state, kind, project, label }: Filters,
  textOf: (session: Session) => string,
): ((session: Session) => boolean) => {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return (session) =>
    (states[state]?.(session) ?? true) &&
    (kind === '' || session.kind === kind) &&
    (project === '' || session.project === project) &&
    (label === '' || labelsOf(session).includes(label)) &&
    words.every((word) => textOf(session).includes(word));
};
