/** Filters of the session list: search, state, kind and project. Pure. */
import type { Session } from '#sdk/routes.ts';
import { hasEnded } from './session-tree.ts';

export type Filters = {
  readonly search: string;
  readonly state: string;
  readonly kind: string;
  readonly project: string;
};

export const noFilters: Filters = { search: '', state: '', kind: '', project: '' };

export const stateOptions = [
  { value: '', label: 'All' },
  { value: 'active', label: 'Active' },
  { value: 'waiting', label: 'Needs approval' },
  { value: 'running', label: 'Running' },
  { value: 'ended', label: 'Ended' },
  { value: 'failed', label: 'Failed' },
] as const;

export const kindOptions = [
  { value: '', label: 'All' },
  { value: 'agent', label: 'Agents' },
  { value: 'execution', label: 'Executions' },
] as const;

const states: Readonly<Record<string, (session: Session) => boolean>> = {
  active: (session) => !hasEnded(session),
  waiting: ({ pendingApprovals }) => pendingApprovals.length > 0,
  running: ({ status }) => status === 'running' || status === 'creating',
  ended: hasEnded,
  failed: ({ status }) => status === 'failed' || status === 'error',
};

/** `about`: more text to search, such as the title and the project's name. */
export const matcherOf =
  ({ search, state, kind, project }: Filters, about: (session: Session) => string) =>
  (session: Session): boolean => {
    const { id, model, provider, flavor, status, workspace } = session;
    const text =
      `${id} ${workspace} ${model} ${provider} ${flavor} ${status} ${about(session)}`.toLowerCase();
    return (
      (states[state]?.(session) ?? true) &&
      (kind === '' || session.kind === kind) &&
      (project === '' || session.project === project) &&
      search
        .toLowerCase()
        .split(/\s+/)
        .every((word) => text.includes(word))
    );
  };
