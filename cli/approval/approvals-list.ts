/** The list of calls that wait for a person, over all sessions that the token may decide in. */
import { api, type WaitingRow } from '#sdk/routes.ts';
import type { Sallyport } from '#sdk/sallyport.ts';
import { listAll } from '../client.ts';
import type { Call } from '../command.ts';
import { tableLines } from '../output.ts';
import { callInShort } from './call-view.ts';

export const readApprovals = (client: Sallyport, call: Call): Promise<readonly WaitingRow[]> =>
  listAll(
    (after) => client.request(api.listApprovals, { query: { project: call.text('project'), after } }),
    (page) => page.approvals,
  );

export const approvalLines = (approvals: readonly WaitingRow[], now: number): readonly string[] =>
  tableLines(
    ['WAITS', 'SESSION', 'CALL', 'WANTS', 'TITLE'],
    approvals.map((one) => [waited(one, now), one.sessionId, one.callId, callInShort(one), one.title]),
  );

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

/** In whole units, as the clock of this machine sees it. */
export const waited = ({ askedAt }: Pick<WaitingRow, 'askedAt'>, now: number): string => {
  const seconds = Math.max(0, Math.floor((now - Date.parse(askedAt)) / 1000));
  const [name, size] = units.find(([, unit]) => seconds >= unit) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${name}`;
};
