/** The fields that actions of the tool `session` share. */
import * as z from 'zod';
import { closed, id } from '../tool-fields.ts';

export const sessionId = id.describe('Id of a session.');

export const ofSessionArguments = closed({ session_id: sessionId });

export const usage = {
  input_tokens: z.int().describe('Number of input tokens.'),
  output_tokens: z.int().describe('Number of output tokens.'),
};

export const pendingApprovals = z
  .array(
    z.object({
      call_id: z.string().describe('Id of the call; pass it to action approve.'),
      name: z.string().describe('Name of the tool.'),
      turn_id: z.string().describe('Id of the turn.'),
      args: z.record(z.string(), z.unknown()).describe('Arguments of the call.'),
      digest: z
        .string()
        .describe('Digest of the call; pass it to action approve to decide about exactly this call.'),
    }),
  )
  .describe('Calls that need approval, in their order.');
