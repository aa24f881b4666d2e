/** The fields that actions of the tool `session` share. */
import * as z from 'zod';
import { closed, id } from '../tool-fields.ts';

export const sessionId = id.describe('The id of a session.');

export const ofSessionArguments = closed({ session_id: sessionId });

export const usage = {
  input_tokens: z.int().describe('Tokens in.'),
  output_tokens: z.int().describe('Tokens out.'),
};

export const pendingApprovals = z
  .array(
    z.object({
      call_id: z.string().describe('Give it to action approve.'),
      name: z.string().describe('The tool.'),
      turn_id: z.string().describe('Its turn.'),
      args: z.record(z.string(), z.unknown()).describe('Its arguments.'),
      digest: z.string().describe('Of all of it: give it to action approve with what you decided about.'),
    }),
  )
  .describe('Calls that wait for a human, the next one first.');
