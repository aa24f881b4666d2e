/**
 * `RateLimiter` and `FrameBucket` on the one table, one number per key: the time at which the bucket is full
 * again. A request moves it on by one interval, and is refused when that would be further away than the burst.
 */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Taken } from '#shared/domain/frame-rate.ts';
import type { FrameBucket, RateLimiter } from '#shared/ports/access.ts';
import { isConditionFailed, itemOfFailure, keys, type Table } from './table.ts';

export type Rate = { readonly perSecond: number; readonly burst: number };

/** Half an interval for requests that read the clock at the same moment and arrive in another order. */
const slack = 0.5;
/** An unused bucket is deleted after this long, in seconds. */
const forgottenSeconds = 3600;

export const makeRateLimiter = (table: Table, { perSecond, burst }: Rate): RateLimiter => {
  const takenMs = 1000 / perSecond;
  const bucketMs = (burst + 1 - slack) * takenMs;
  return {
    take: async (key, now, requests = 1) => {
      const request = { takenMs: takenMs * requests, bucketMs, now };
      return (await takeFrom(table, keys.rate(key), request)).isTaken;
    },
  };
};

export const makeFrameBucket = (table: Table): FrameBucket => ({
  take: (key, request) => takeFrom(table, keys.frames(key), request),
});

/** Each lost race is a bucket that ran full, or began to be used, between two requests. */
const racesMax = 10;

type Key = { readonly pk: string; readonly sk: string };
type TakeRequest = Parameters<FrameBucket['take']>[1];

const takeFrom = async (table: Table, key: Key, { takenMs, bucketMs, now }: TakeRequest): Promise<Taken> => {
  const latest = now + bucketMs - takenMs;
  const always = { ':now': now, ':ttl': Math.ceil(now / 1000) + forgottenSeconds };
  const full = {
    when: 'attribute_not_exists(fullAt) OR fullAt <= :now',
    set: ':next',
    values: { ...always, ':next': now + takenMs },
  };
  const inUse = {
    when: 'fullAt > :now AND fullAt <= :latest',
    set: 'fullAt + :taken',
    values: { ...always, ':latest': latest, ':taken': takenMs },
  };
  for (let race = 0; race < racesMax; race += 1) {
    const first = await change(table, key, full);
    if (first.isTaken || first.fullAt > latest) return first;
    const second = await change(table, key, inUse);
    if (second.isTaken || second.fullAt > latest) return second;
  }
  throw new Error(`a bucket was not counted in ${racesMax} tries`);
};

type Change = { readonly when: string; readonly set: string; readonly values: Record<string, number> };

/** The time at which it is full again, or its earlier value when the condition did not hold. */
const change = async ({ client, name }: Table, key: Key, { when, set, values }: Change): Promise<Taken> => {
  try {
    const { Attributes } = await client.send(
      new UpdateCommand({
        TableName: name,
        Key: key,
        ConditionExpression: when,
        UpdateExpression: `SET fullAt = ${set}, #ttl = :ttl`,
        ExpressionAttributeNames: { '#ttl': 'ttl' },
        ExpressionAttributeValues: values,
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return { isTaken: true, fullAt: Number(Attributes?.['fullAt']) };
  } catch (error) {
    if (!isConditionFailed(error)) throw error;
    return { isTaken: false, fullAt: Number(itemOfFailure(error)?.['fullAt'] ?? 0) };
  }
};
