/** Brings task state events to their reader: at once and in order, unless faults say otherwise. A stop drops what is late. */
import { eventDelaysMs, type FaultPlan } from './faults.ts';

export type TaskEventDetail = Readonly<Record<string, unknown>>;

export type EventDelivery = {
  readonly deliver: (detail: TaskEventDetail) => void;
  readonly stop: () => void;
};

export const openEventDelivery = (
  faults: FaultPlan,
  onTaskEvent: (detail: TaskEventDetail) => void,
): EventDelivery => {
  const late = new Set<NodeJS.Timeout>();
  const deliverAfter = (detail: TaskEventDetail, delayMs: number): void => {
    const timer = setTimeout(() => {
      late.delete(timer);
      onTaskEvent(detail);
    }, delayMs);
    late.add(timer);
  };
  return {
    deliver: (detail) => {
      for (const delayMs of eventDelaysMs(faults.current(), faults.count('event'))) {
        if (delayMs === 0) onTaskEvent(detail);
        else deliverAfter(detail, delayMs);
      }
    },
    stop: () => {
      for (const timer of late) clearTimeout(timer);
    },
  };
};
