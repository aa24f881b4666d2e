/** 200 turns that wait for a person for a day of virtual time: nothing is paid for them but the sweeps that are there anyway. */
import { runWaitingDay } from '../simulation/waiting-day.ts';
import { atMost, exactly, type Proof } from './proof.ts';

const turns = 200;
const seed = 1;
/** The time for waiting is two minutes; a sweep, the save and the stop of the task come to it. */
const stoppedAfterSecondsMax = 240;

export const waitingTurns: Proof = async (progress) => {
  progress(`${turns} turns wait for a day`);
  const day = await runWaitingDay(seed, turns);
  return [
    exactly('turns that wait, whose sandbox had run a tool', day.waiting, turns),
    atMost(
      'seconds from the question to the stop of its sandbox',
      day.stoppedAfterSeconds,
      stoppedAfterSecondsMax,
    ),
    exactly('hours that they wait after the last stop', day.hours, 24),
    exactly('seconds of sandboxes in these hours', day.sandboxSeconds, 0),
    exactly('invocations of functions other than sweeps', day.functions, 0),
    exactly('seconds of functions other than sweeps', day.functionSeconds, 0),
    exactly('sweeps, beside those of a platform in which nobody works', day.sweeps, day.emptySweeps),
    exactly('requests of the sweeps to the table, beside the same', day.requests, day.emptyRequests),
    exactly('calls that ran once after the decision, in a new sandbox with the files', day.back, turns),
  ];
};
