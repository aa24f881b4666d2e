/** End of a turn in words, as it is shown and as a screen reader says it. */
import { watch } from 'vue';
import { announce } from '../../components/notices.vue';
import type { EndItem } from '../../session/items.ts';
import { isReplaying, liveState } from '../../session/live-session.ts';
import type { ViewState } from '../../session/view-state.ts';

const endings: Readonly<Record<EndItem['stopReason'], string>> = {
  end_turn: 'Done',
  max_tokens: 'Stopped: output limit reached',
  cancelled: 'Cancelled',
  error: 'Failed',
  budget_exceeded: 'Stopped: budget exceeded',
  steps_exceeded: 'Stopped: step limit reached',
  refused: 'The model declined',
};

/** A newer server may have another reason. */
export const endingOf = ({ stopReason }: Pick<EndItem, 'stopReason'>): string =>
  endings[stopReason] ?? `Ended: ${stopReason}`;

/** The end that came since the earlier state of the same session; what a page finds when it opens one is no news. */
export const newEndOf = (before: ViewState, after: ViewState): EndItem | undefined => {
  const isSame = before.session !== null && before.session.sessionId === after.session?.sessionId;
  if (!isSame || before.items === after.items) return undefined;
  const last = lastEndOf(after);
  return last?.id === lastEndOf(before)?.id ? undefined : last;
};

const lastEndOf = ({ items }: ViewState): EndItem | undefined =>
  items.findLast((item): item is EndItem => item.kind === 'end');

/** The end of a turn moves no focus and is in no live region: it is said. */
export const useEndAnnouncements = (): void => {
  let known = liveState.value;
  watch(
    () => liveState.value,
    (state) => {
      if (isReplaying.value) return;
      const end = newEndOf(known, state);
      known = state;
      if (end !== undefined) announce(endingOf(end));
    },
  );
};
