/** Repeats a read, a decision and a conditional write while another caller writes first: one policy for all of them. */
import { AppError } from '../errors.ts';

/** The answer of an attempt whose write found something newer than what it had read. */
export const raceLost = Symbol('race lost');

/** Each loss is another caller's success, so losing this often is no coincidence. */
const racesMax = 50;

/** `attempt` reads anew each time; `race` counts from 0. `orElse` answers after the last lost race. */
export const untilWon = async <T>(
  attempt: (race: number) => Promise<T | typeof raceLost>,
  orElse: () => T,
): Promise<T> => {
  for (let race = 0; race < racesMax; race += 1) {
    const result = await attempt(race);
    if (result !== raceLost) return result;
  }
  return orElse();
};

/** Throws `conflict`: `what` changed at every attempt. */
export const changesTooOften = (what: string) => (): never => {
  throw new AppError('conflict', `${what} changes too often`, {
    suggestions: ['Try again.'],
    recoveryActions: ['retry_operation'],
  });
};
