/** The calls of a session that wait for a person, whole, since they are read to be decided; and how each is allowed. */
import type { JsonObject } from '#shared/domain/json.ts';
import { visibleLine } from '#shared/domain/visible-text.ts';
import { toJson } from '../control-characters.ts';

export type WaitingCall = { readonly callId: string; readonly name: string; readonly args: JsonObject };

/** They are decided in their order, so the first alone has a command. */
export const waitingLines = (session: string, calls: readonly WaitingCall[]): readonly string[] => {
  const [first] = calls;
  if (first === undefined) return [];
  return [
    '',
    'Waits for approval:',
    ...calls.map(({ name, args }) => `  ${visibleLine(name)} ${toJson(args)}`),
    `Decide the first with \`sallyport approvals approve ${session} ${visibleLine(first.callId)}\`; \`reject\` in its place declines it.`,
  ];
};
