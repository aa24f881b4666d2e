/**
 * List of pending approvals with a selected one, reloaded when their count changes. A decided call disappears at once and
 * returns if the decision failed.
 */
import { type ComputedRef, computed, type ShallowRef, shallowRef, watch } from 'vue';
import { isSettled } from '#sdk/approvals.ts';
import { api, type Decision, type WaitingRow } from '#sdk/routes.ts';
import { type Pages, usePages } from '../../api/load.ts';
import { request } from '../../api/request.ts';
import { sendDecision, type WaitingCall, whyUndecided } from '../../approval/waiting-call.ts';
import { notify } from '../../components/notices.vue';
import { waitingVersion } from '../../waiting/pending-approvals.ts';

export type WaitingList = {
  readonly rows: ComputedRef<readonly WaitingRow[] | undefined>;
  readonly chosen: ComputedRef<WaitingRow | undefined>;
  readonly choose: (row: WaitingRow) => void;
  /** Moves the selection, up to the first or last call. */
  readonly move: (steps: number) => void;
  readonly decide: (row: WaitingRow, decision: Decision) => Promise<void>;
  readonly pages: Pages<WaitingRow>;
};

export const keyOf = ({ sessionId, turnId, callId, digest, effectDigest = '' }: WaitingRow): string =>
  `${sessionId} ${turnId} ${callId} ${digest} ${effectDigest}`;

export const callOf = ({ argsTruncated, ...row }: WaitingRow): WaitingCall =>
  ({ ...row, isCut: argsTruncated === true }) as WaitingCall;

export const useWaitingList = (isFirst: (row: WaitingRow) => boolean): WaitingList => {
  const pages = usePages<WaitingRow>(async (after, signal) => {
    const { approvals, next } = await request(api.listApprovals, { query: { after } }, { signal });
    return { items: approvals, next };
  });
  // Read again when the read before has ended: each change would cut it off, and a list that changes all the time would never come.
  let isDue = false;
  watch([waitingVersion, pages.isLoading] as const, ([version, isLoading], [before]) => {
    isDue ||= version !== before;
    if (isLoading || !isDue) return;
    isDue = false;
    void pages.reload();
  });

  const decided: ShallowRef<ReadonlySet<string>> = shallowRef(new Set());
  const rows = computed(() => pages.items.value?.filter((row) => !decided.value.has(keyOf(row))));
  const chosenKey = shallowRef<string>();
  const lastIndex = shallowRef(0);
  const chosen = computed(() => {
    const all = rows.value ?? [];
    const selected =
      chosenKey.value === undefined ? all.find(isFirst) : all.find((row) => keyOf(row) === chosenKey.value);
    // The next call takes the position of a decided one.
    return selected ?? all[Math.min(lastIndex.value, all.length - 1)];
  });
  const choose = (row: WaitingRow): void => {
    chosenKey.value = keyOf(row);
    lastIndex.value = Math.max(0, rows.value?.indexOf(row) ?? 0);
  };
  const move = (steps: number): void => {
    const all = rows.value ?? [];
    const at = chosen.value === undefined ? 0 : all.indexOf(chosen.value);
    const next = all[Math.min(Math.max(at + steps, 0), all.length - 1)];
    if (next !== undefined) choose(next);
  };

  const decide = async (row: WaitingRow, decision: Decision): Promise<void> => {
    choose(row);
    decided.value = new Set([...decided.value, keyOf(row)]);
    try {
      await sendDecision(callOf(row), decision);
      notify(`${decision.approved ? 'Approved' : 'Rejected'}: ${row.name}`);
    } catch (error) {
      if (isSettled(error)) return notify('Already decided.', 'info');
      decided.value = new Set([...decided.value].filter((key) => key !== keyOf(row)));
      notify(whyUndecided(error instanceof Error ? error : new Error(String(error))), 'bad');
    } finally {
      void pages.reload();
    }
  };
  return { rows, chosen, choose, move, decide, pages };
};
