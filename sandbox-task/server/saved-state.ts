/**
 * Compares the workspace with the checkpoint that a request names, for its answer: without a change the platform saves nothing. A runner that
 * does not answer knows of none.
 */
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { savedAsHeader } from '#shared/contracts/sandbox-call.ts';
import type { LogRing } from './logs.ts';
import { expectAnswer, type UserSide } from './user-side.ts';

/** The number of the newest line of the log if the workspace is as it was saved; undefined: it is not, or that is not known. */
export type SavedState = (request: IncomingMessage) => Promise<number | undefined>;

type Parts = {
  readonly userSide: Pick<UserSide, 'ask'>;
  readonly logRing: Pick<LogRing, 'last'>;
};

/** The result of a call waits for this question, and a save costs less than a longer one. */
const compareMsMax = 2000;
const isLate = () => delay(compareMsMax, false, { ref: false });

export const createSavedState =
  ({ userSide, logRing }: Parts): SavedState =>
  async ({ headers }) => {
    const checkpoint = z.uuid().safeParse(headers[savedAsHeader]);
    if (!checkpoint.success) return undefined;
    const question = { type: 'checkpoint-compare', transfer: '', checkpoint: checkpoint.data } as const;
    const isSame = userSide.ask(question).then(
      (answer) => expectAnswer(answer, 'compared').isSame,
      () => false,
    );
    return (await Promise.race([isSame, isLate()])) ? logRing.last() : undefined;
  };
