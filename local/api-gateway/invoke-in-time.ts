/**
 * A function invoked for an integration, which waits 29 seconds and no longer.
 *
 * The function itself runs on, as on AWS: only its answer is no longer wanted.
 */
import type { FunctionHost } from '../lambda/function-host.ts';
import type { Buffered } from '../lambda/invocation.ts';

export type TimedInvocation = { readonly name: string; readonly event: unknown; readonly timeoutMs: number };

export const invokeInTime = async (
  functions: FunctionHost,
  { name, event, timeoutMs }: TimedInvocation,
): Promise<Buffered | 'timed out'> => {
  const { promise, resolve } = Promise.withResolvers<'timed out'>();
  const timer = setTimeout(() => resolve('timed out'), timeoutMs);
  try {
    return await Promise.race([functions.invoke(name, JSON.stringify(event)), promise]);
  } finally {
    clearTimeout(timer);
  }
};
