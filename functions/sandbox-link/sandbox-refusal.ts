/** What a sandbox says when it says no. */
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { decode } from '#shared/contracts/decode.ts';
import { readJson } from './sandbox-request.ts';

const bytesMax = 64 * 1024;
const schema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** Throws when it gives no reason. */
export const readRefusal = async (
  response: IncomingMessage,
): Promise<{ readonly code: string; readonly message: string }> => {
  const answer = decode(schema, await readJson(response, bytesMax));
  if (!answer.ok) throw new Error('the sandbox refused without a reason');
  return answer.value.error;
};
