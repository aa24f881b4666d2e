/**
 * The rights of a program inside a sandbox, as a table: those of the owner of the session, narrowed to its project, and to the tree
 * of the session where a tool names a session (docs/spec/relay.md: PS1, PS2).
 *
 * All that is not listed is refused: approvals, grants, networks, tokens, secrets, webhooks, budgets and resumptions are none of a
 * program's business, and neither are sessions that it did not start.
 */
import type { Principal } from '../principal.ts';
import { type ApprovalMode, approvalModes, type Session } from '../session.ts';

/** No credential stands behind it: it takes from a rate of its own. */
export const sandboxPrincipal = ({
  id,
  owner,
  project,
}: Pick<Session, 'id' | 'owner' | 'project'>): Principal => ({
  owner,
  scope: `project:${project}`,
  tokenHash: `sandbox ${id}`,
  ...(owner.startsWith('person-') ? { isPerson: true as const } : {}),
});

/** `own`: the session itself or a descendant; `descendant`: never itself; `none`: it names no session. */
type Target = 'none' | 'own' | 'descendant';

const reads = (actions: readonly string[]): Readonly<Record<string, Target>> =>
  Object.fromEntries(actions.map((action) => [action, 'none']));

/** The tools that a program may call; of those with actions the actions. */
const tools: Readonly<Record<string, Target | Readonly<Record<string, Target>>>> = {
  read_file: 'own',
  write_file: 'own',
  list_files: 'own',
  config_limits: 'own',
  project: reads(['get', 'list', 'options']),
  workspace: reads(['list']),
  session: { get: 'own', events: 'own', cancel: 'descendant', end: 'descendant' },
};

/** Undefined: a program may not call it. */
export const sandboxTarget = (tool: string, action: unknown): Target | undefined => {
  const found = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  if (found === undefined || typeof found === 'string') return found;
  return typeof action === 'string' && Object.hasOwn(found, action) ? found[action] : undefined;
};

/** The actions of a tool; undefined for one without actions, and for one that a program may not call. */
export const sandboxActions = (tool: string): readonly string[] | undefined => {
  const found = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  return found === undefined || typeof found === 'string' ? undefined : Object.keys(found);
};

/** True when fewer calls would be asked about than with the parent's. */
export const isWeaker = (asked: ApprovalMode, parent: ApprovalMode): boolean =>
  approvalModes.indexOf(asked) > approvalModes.indexOf(parent);
