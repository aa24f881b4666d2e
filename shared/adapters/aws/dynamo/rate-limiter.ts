/**
 * `RateLimiter` on the one table, one number per key: when the bucket will be full again. A request moves it
 * on by one interval, and is refused when that would be further away than the burst.
 */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { RateLimiter } from '#shared/ports/rate-limiter.ts';
import { isConditionFailed, keys, type Table } from './table.ts';

export type Rate = { readonly perSecond: number; readonly burst: number };

/** Half an interval for those who read the clock at the same moment and arrive in another order. */
const slack = 0.5;
/** A bucket nobody asked for is forgotten after this long, in seconds. */
const forgottenSeconds = 3600;

export const makeRateLimiter = ({ client, name }: Table, { perSecond, burst }: Rate): RateLimiter => {
  const intervalMs = 1000 / perSecond;
  const change = async (
    key: string,
    { when, set, values }: { when: string; set: string; values: Readonly<Record<string, number>> },
  ): Promise<boolean> => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: name,
          Key: keys.rate(key),
          ConditionExpression: when,
          UpdateExpression: `SET fullAt = ${set}, #ttl = :ttl`,
          ExpressionAttributeNames: { '#ttl': 'ttl' },
          ExpressionAttributeValues: values,
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };
  return {
    take: async (key, now) => {
      const ttl = { ':ttl': Math.ceil(now / 1000) + forgottenSeconds };
      const isFull = {
        when: 'attribute_not_exists(fullAt) OR fullAt <= :now',
        set: ':next',
        values: { ':now': now, ':next': now + intervalMs, ...ttl },
      };
      const hasRoom = {
        when: 'fullAt > :now AND fullAt <= :latest',
        set: 'fullAt + :interval',
        values: {
          ':now': now,
          ':latest': now + (burst - slack) * intervalMs,
          ':interval': intervalMs,
          ...ttl,
        },
      };
      return (await change(key, isFull)) || (await change(key, hasRoom));
    },
  };
};
