/** The calls of a session that wait for a person, whole, since they are read to be decided; and how each is allowed. */
import type { Session } from '#sdk/routes.ts';
import { visibleLine } from '#shared/domain/visible-text.ts';
import { toJson } from '../control-characters.ts';

type Waiting = Pick<Session['pendingApprovals'][number], 'callId' | 'name' | 'args'>;

/** They are decided in their order, so the first alone has a command. */
export const waitingLines = (session: string, calls: readonly Waiting[]): readonly string[] => {
  const [first] = calls;
  if (first === undefined) return [];
  return [
    '',
    'Waits for approval:',
    ...calls.map(({ name, args }) => `  ${visibleLine(name)} ${toJson(args)}`),
    `Decide the first with \`sallyport approvals approve ${session} ${visibleLine(first.callId)}\`; \`reject\` in its place declines it.`,
  ];
};
