/** The list of calls that wait for a person, over all sessions that the token may decide in. */
import type { Call } from '../command.ts';
import { type HttpClient, listAll, withQuery } from '../http-client.ts';
import { tableLines } from '../table.ts';
import { callInShort } from './call-view.ts';
import type { WaitingCall } from './waiting-call.ts';

export type ListedCall = WaitingCall & {
  readonly title: string;
  readonly project: string;
  readonly askedAt: string;
  readonly digest: string;
  readonly argsTruncated?: true;
};

export const readApprovals = (client: HttpClient, call: Call): Promise<readonly ListedCall[]> =>
  listAll<ListedCall>(client, withQuery('/api/approvals', { project: call.text('project') }), 'approvals');

export const approvalLines = (approvals: readonly ListedCall[], now: number): readonly string[] =>
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
export const waited = ({ askedAt }: Pick<ListedCall, 'askedAt'>, now: number): string => {
  const seconds = Math.max(0, Math.floor((now - Date.parse(askedAt)) / 1000));
  const [name, size] = units.find(([, unit]) => seconds >= unit) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${name}`;
};
