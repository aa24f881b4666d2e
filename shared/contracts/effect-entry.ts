/** Fields of an effect's entry beside its diff. All are optional: an effect that an older version compared or stored has none. */
import * as z from 'zod';
import { entryTypes } from '#shared/domain/effect.ts';

const entryType = z.enum(entryTypes);

export const effectEntryFields = {
  type: entryType.exactOptional().describe('Type afterwards; of a removed entry, before.'),
  typeBefore: entryType.exactOptional().describe('Former type, where an entry of another type replaces it.'),
  target: z.string().exactOptional().describe('Target of a link.'),
  targetBefore: z.string().exactOptional().describe('Former target, of what was a link.'),
  mode: z
    .string()
    .exactOptional()
    .describe(
      'Permissions in octal, such as `755`, where they change or a new file has others than 644, a new folder than 755.',
    ),
  modeBefore: z.string().exactOptional().describe('Former permissions, where they change.'),
  sha256: z
    .string()
    .exactOptional()
    .describe(
      'SHA-256, in hexadecimal, of the content afterwards; of a removed file, before. Absent where the content stays.',
    ),
};
