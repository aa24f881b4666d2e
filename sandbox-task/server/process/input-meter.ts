/**
 * The rate of input of each connection: all input of one connection comes through this server, whichever function of the
 * platform passes it on (TW5).
 */
import { inputBytesPerSecondMax } from '#shared/domain/limits.ts';
import { Refusal } from '../refusal.ts';

export type InputMeter = {
  /** Throws over the rate. Requests that name no connection are not counted. */
  readonly take: (connection: string | readonly string[] | undefined, bytes: number) => void;
};

type Bucket = { level: number; at: number };

const connectionsMax = 1000;

export const createInputMeter = (): InputMeter => {
  const buckets = new Map<string, Bucket>();
  return {
    take: (connection, bytes) => {
      if (typeof connection !== 'string') return;
      const at = performance.now();
      const bucket = buckets.get(connection) ?? { level: 0, at };
      const level = Math.max(0, bucket.level - ((at - bucket.at) / 1000) * inputBytesPerSecondMax);
      const isOver = level + bytes > inputBytesPerSecondMax;
      buckets.delete(connection);
      buckets.set(connection, { level: isOver ? level : level + bytes, at });
      const [oldest] = buckets.keys();
      if (buckets.size > connectionsMax && oldest !== undefined) buckets.delete(oldest);
      if (isOver)
        throw new Refusal(
          'rate_limited',
          `a connection may send ${inputBytesPerSecondMax} bytes of input a second`,
        );
    },
  };
};
