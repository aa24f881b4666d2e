/**
 * EventBridge on one machine: rules that fire on a timer, and one that forwards the state of ECS tasks.
 *
 * A timed rule fires first at the start, so that work that came due while the machine was off is done at once. It sends
 * the event of a schedule, or its own input. Targets are invoked asynchronously, like those of a real rule (A28), but one
 * after another: rules of one machine fire every second, and what takes longer would pile up on a busy one. A beat that
 * comes while the last one still runs follows at its end.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-run-lambda-schedule.html
 */
import { randomUUID } from 'node:crypto';
import type { Json } from '#shared/domain/json.ts';
import { accountId, region } from '../endpoint/account.ts';
import type { FunctionHost } from '../lambda/function-host.ts';

export type TimedRule = {
  readonly name: string;
  readonly everyMs: number;
  readonly functionName: string;
  /** Sent to the function instead of the event; a function is called at each firing. */
  readonly input?: Json | (() => Json);
  /** Its runs share the work by leases of their own, and one that waits keeps no other from the rest. */
  readonly overlaps?: true;
};

type EventsOptions = {
  readonly functions: Pick<FunctionHost, 'invokeLater' | 'invokeToEnd'>;
  readonly rules: readonly TimedRule[];
  readonly taskStateFunction: string;
};

type Events = {
  /** Begins to invoke; call it once the functions are deployed. Earlier task events follow at once. */
  readonly fire: () => void;
  /** Forwards one `ECS Task State Change`; `detail` is the task as ECS describes it. */
  readonly taskStateChanged: (detail: Readonly<Record<string, unknown>>) => void;
  readonly stop: () => Promise<void>;
};

export const start = ({ functions, rules, taskStateFunction }: EventsOptions): Promise<Events> => {
  const timers: NodeJS.Timeout[] = [];
  let early: string[] | undefined = [];
  let isStopped = false;
  const fireRule = (rule: TimedRule) =>
    functions.invokeToEnd(rule.functionName, JSON.stringify(inputOf(rule)));
  return Promise.resolve({
    fire: () => {
      for (const event of early ?? []) functions.invokeLater(taskStateFunction, event);
      early = undefined;
      for (const rule of rules) {
        const run = async (): Promise<void> => {
          if (!isStopped) await fireRule(rule);
        };
        const beat = rule.overlaps ? () => void run() : oneAfterAnother(run);
        beat();
        timers.push(setInterval(beat, rule.everyMs));
      }
    },
    taskStateChanged: (detail) => {
      const event = JSON.stringify(taskEvent(detail));
      if (early === undefined) functions.invokeLater(taskStateFunction, event);
      else early.push(event);
    },
    stop: () => {
      isStopped = true;
      for (const timer of timers) clearInterval(timer);
      return Promise.resolve();
    },
  });
};

/** Runs at each call, or once more after the run during which calls came. */
const oneAfterAnother = (run: () => Promise<void>): (() => void) => {
  let isRunning = false;
  let isMissed = false;
  const runAll = async (): Promise<void> => {
    isRunning = true;
    try {
      do {
        isMissed = false;
        await run();
      } while (isMissed);
    } finally {
      isRunning = false;
    }
  };
  return () => {
    isMissed = true;
    if (!isRunning) void runAll();
  };
};

const inputOf = (rule: TimedRule): unknown => {
  if (rule.input === undefined) return scheduledEvent(rule);
  return typeof rule.input === 'function' ? rule.input() : rule.input;
};

const envelope = () => ({
  version: '0',
  id: randomUUID(),
  account: accountId,
  time: `${new Date().toISOString().slice(0, 19)}Z`,
  region,
});

const scheduledEvent = ({ name }: TimedRule) => ({
  ...envelope(),
  'detail-type': 'Scheduled Event',
  source: 'aws.events',
  resources: [`arn:aws:events:${region}:${accountId}:rule/${name}`],
  detail: {},
});

const taskEvent = (detail: Readonly<Record<string, unknown>>) => ({
  ...envelope(),
  'detail-type': 'ECS Task State Change',
  source: 'aws.ecs',
  resources: [detail['taskArn']],
  detail,
});
