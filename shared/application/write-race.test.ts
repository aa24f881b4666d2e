import { describe, expect, test } from 'vitest';
import { changesTooOften, raceLost, untilWon } from './write-race.ts';

describe('untilWon', () => {
  test('attempts again after each lost race, and answers with the first success', async () => {
    const races: number[] = [];
    const won = await untilWon(async (race) => {
      races.push(race);
      return race < 3 ? raceLost : 'won';
    }, changesTooOften('the turn'));
    expect(won).toBe('won');
    expect(races).toEqual([0, 1, 2, 3]);
  });

  test('an attempt that answers undefined has won', async () => {
    expect(await untilWon<string | undefined>(async () => undefined, changesTooOften('the turn'))).toBe(
      undefined,
    );
  });

  test('ends with a conflict when every race is lost', async () => {
    let attempts = 0;
    const lost = untilWon(async () => {
      attempts += 1;
      return raceLost;
    }, changesTooOften('the turn'));
    await expect(lost).rejects.toMatchObject({
      code: 'conflict',
      message: 'the turn changes too often',
      details: { recoveryActions: ['retry_operation'] },
    });
    expect(attempts).toBe(50);
  });

  test('an error ends it', async () => {
    const failing = untilWon(async () => Promise.reject(new Error('refused')), changesTooOften('the turn'));
    await expect(failing).rejects.toThrow('refused');
  });
});
