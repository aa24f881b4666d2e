/**
 * The body of a response as a web stream that ends when a budget is used up.
 *
 * It is read as fast as its reader takes it. Cancelling it closes the connection at once, and a connection
 * that breaks off is an error, never an end.
 */
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import { AppError } from '#shared/errors.ts';

/** The remaining bytes that all bodies of one call may have together. */
export type ByteBudget = { left: number };

const bufferedBytesMax = 65_536;

export const boundedBody = (
  incoming: IncomingMessage,
  { budget, explain }: { readonly budget: ByteBudget; readonly explain: (error: unknown) => Error },
): ReadableStream<Uint8Array> => {
  let isOpen = true;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        incoming.on('data', (chunk: Buffer) => {
          budget.left -= chunk.length;
          if (budget.left < 0) incoming.destroy(tooLarge());
          else if (isOpen) controller.enqueue(chunk);
          if ((controller.desiredSize ?? 0) <= 0) incoming.pause();
        });
        finished(incoming, (error) => {
          if (!isOpen) return;
          isOpen = false;
          if (error) controller.error(explain(error));
          else controller.close();
        });
      },
      pull: () => void incoming.resume(),
      cancel: () => {
        isOpen = false;
        incoming.destroy();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: bufferedBytesMax }),
  );
};

const tooLarge = (): AppError =>
  new AppError('resource_limit_exceeded', 'its answer is too large', {
    suggestions: ['Request less from the server at once.'],
    recoveryActions: ['retry_with_optimization'],
  });
