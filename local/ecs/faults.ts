/**
 * Faults of ECS, for tests and demonstrations, and the delivery of task state events under them.
 *
 * Nothing is random: occasions are counted from 1 and the counts decide. `npm start` reads them as JSON from
 * SALLYPORT_ECS_FAULTS; `POST /faults` on the endpoint replaces them and resets the counts. All keys are optional;
 * an unknown one is refused. An SDK that retries uses up one of a number with each attempt.
 *
 * - `provisioningMs`: a task is PROVISIONING for this long before its sandbox starts.
 * - `throttles`: the first n RunTask calls return ThrottlingException.
 * - `capacityFailures`: the first n requested tasks cannot be placed (200, no task, one failure).
 * - `capacityFailuresFor`: tasks of these CPU units cannot be placed either, for example `["2048"]`.
 * - `diesWhileStarting`: the first n tasks stop before they run, for their image and for the network in turn.
 * - `unreachableMs`: for this long after a task runs its address refuses connections.
 * - `stopFailures`: the first n StopTask calls return ServerException.
 * - `events.lose`: the first n task state events are lost, or those of the listed numbers.
 * - `events.double`: each event is delivered twice. `events.delayMs`: each is delivered this pending.
 * - `events.shuffle`: every other event, from the first on, arrives after those of the next 300 ms.
 */
import * as z from 'zod';
import { parseJson } from '../endpoint/http-messages.ts';

const count = z.int().min(0).max(1_000_000);
const durationMs = z.int().min(0).max(600_000);

const faultsSchema = z.strictObject({
  provisioningMs: durationMs.exactOptional(),
  throttles: count.exactOptional(),
  capacityFailures: count.exactOptional(),
  capacityFailuresFor: z.array(z.string().regex(/^\d+$/)).max(16).exactOptional(),
  diesWhileStarting: count.exactOptional(),
  unreachableMs: durationMs.exactOptional(),
  stopFailures: count.exactOptional(),
  events: z
    .strictObject({
      lose: z.union([count, z.array(count.min(1)).max(1000)]).exactOptional(),
      double: z.boolean().exactOptional(),
      shuffle: z.boolean().exactOptional(),
      delayMs: durationMs.exactOptional(),
    })
    .exactOptional(),
});

type DeepReadonly<T> = { readonly [K in keyof T]: DeepReadonly<T[K]> };
export type Faults = DeepReadonly<z.output<typeof faultsSchema>>;

type DecodedFaults =
  | { readonly ok: true; readonly faults: Faults }
  | { readonly ok: false; readonly problem: string };

export const decodeFaults = (text: string): DecodedFaults => {
  const parsed = faultsSchema.safeParse(parseJson(text));
  if (parsed.success) return { ok: true, faults: parsed.data };
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  );
  return { ok: false, problem: problems.join('; ') };
};

/** Reads SALLYPORT_ECS_FAULTS; unset or empty means no faults. */
export const readFaults = (text: string | undefined): Faults => {
  if (text === undefined || text === '') return {};
  const decoded = decodeFaults(text);
  if (decoded.ok) return decoded.faults;
  throw new Error(`SALLYPORT_ECS_FAULTS: ${decoded.problem}`);
};

type Occasion = 'run' | 'placement' | 'start' | 'stop' | 'event';

export type FaultPlan = {
  readonly current: () => Faults;
  /** The number of this occasion, from 1. */
  readonly count: (occasion: Occasion) => number;
  /** Resets the counts. */
  readonly replace: (faults: Faults) => void;
};

export const openFaultPlan = (initial: Faults): FaultPlan => {
  let faults = initial;
  const counts = new Map<Occasion, number>();
  return {
    current: () => faults,
    count: (occasion) => {
      const number = (counts.get(occasion) ?? 0) + 1;
      counts.set(occasion, number);
      return number;
    },
    replace: (next) => {
      faults = next;
      counts.clear();
    },
  };
};

export const isThrottled = ({ throttles = 0 }: Faults, number: number): boolean => number <= throttles;

export const isWithoutCapacity = (
  { capacityFailures = 0, capacityFailuresFor = [] }: Faults,
  number: number,
  cpu: string,
): boolean => number <= capacityFailures || capacityFailuresFor.includes(cpu);

export const isStopFailing = ({ stopFailures = 0 }: Faults, number: number): boolean =>
  number <= stopFailures;

const startFailures = [
  'CannotPullContainerError: pull image manifest has been retried 5 time(s): failed to resolve ref: i/o timeout',
  'ResourceInitializationError: unable to pull secrets or registry auth: pull command failed: signal: killed',
] as const;

/** The reason why this task never runs (https://docs.aws.amazon.com/AmazonECS/latest/developerguide/stopped-task-error-codes.html). */
export const startFailure = ({ diesWhileStarting = 0 }: Faults, number: number): string | undefined =>
  number <= diesWhileStarting ? startFailures[(number - 1) % startFailures.length] : undefined;

const shuffledMs = 300;
const doubledAfterMs = 50;

/** The delay of each delivery of an event, in milliseconds; empty when it is lost. */
export const eventDelaysMs = ({ events = {} }: Faults, number: number): readonly number[] => {
  const { lose = 0, double = false, shuffle = false, delayMs = 0 } = events;
  const isLost = typeof lose === 'number' ? number <= lose : lose.includes(number);
  if (isLost) return [];
  const first = delayMs + (shuffle && number % 2 === 1 ? shuffledMs : 0);
  return double ? [first, first + doubledAfterMs] : [first];
};

export type TaskEventDetail = Readonly<Record<string, unknown>>;

type EventDelivery = {
  readonly deliver: (detail: TaskEventDetail) => void;
  readonly stop: () => void;
};

/** Delivers at once and in order, unless the faults say otherwise. A stop drops delayed events. */
export const openEventDelivery = (
  faults: FaultPlan,
  onTaskEvent: (detail: TaskEventDetail) => void,
): EventDelivery => {
  const pending = new Set<NodeJS.Timeout>();
  const deliverAfter = (detail: TaskEventDetail, delayMs: number): void => {
    const timer = setTimeout(() => {
      pending.delete(timer);
      onTaskEvent(detail);
    }, delayMs);
    pending.add(timer);
  };
  return {
    deliver: (detail) => {
      for (const delayMs of eventDelaysMs(faults.current(), faults.count('event'))) {
        if (delayMs === 0) onTaskEvent(detail);
        else deliverAfter(detail, delayMs);
      }
    },
    stop: () => {
      for (const timer of pending) clearTimeout(timer);
    },
  };
};
