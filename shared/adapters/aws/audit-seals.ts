/** `AuditSeals` in the bucket of the workspaces: an object per seal under a prefix of its own, and one that is the last. */
import * as z from 'zod';
import { decodeJson } from '#shared/contracts/decode.ts';
import { type Seal, sealAlgorithm } from '#shared/domain/audit-seal.ts';
import type { AuditSeals } from '#shared/ports/audit-seals.ts';
import type { WorkspaceBucket } from './workspace-bucket.ts';

const prefix = 'audit/seals/';
/** A head of each session that decided in the time of a seal. */
const sealBytesMax = 32 * 1024 * 1024;
const count = z.number().int().min(0);

const sealSchema: z.ZodType<Seal> = z.object({
  number: count,
  from: count,
  through: count,
  rows: count,
  rowsHash: z.string(),
  heads: z.record(z.string(), z.object({ index: count, hash: z.string() })),
  previous: z.string(),
  root: z.string(),
  at: z.string(),
  keyId: z.string().exactOptional(),
  algorithm: z.literal(sealAlgorithm).exactOptional(),
  signature: z.string().exactOptional(),
});

export const makeAuditSeals = (bucket: Pick<WorkspaceBucket, 'read' | 'write'>): AuditSeals => {
  const keyOf = (number: number): string => `${prefix}${String(number).padStart(10, '0')}.json`;
  const last = `${prefix}last.json`;
  const read = async (key: string): Promise<Seal | undefined> => {
    const bytes = await bucket.read(key, sealBytesMax);
    if (bytes === undefined) return undefined;
    const seal = decodeJson(sealSchema, Buffer.from(bytes).toString());
    if (!seal.ok) throw new Error(`${key} is no seal: ${seal.problem}`);
    return seal.value;
  };
  return {
    last: () => read(last),
    read: (number) => read(keyOf(number)),
    write: async (seal) => {
      const bytes = Buffer.from(JSON.stringify(seal));
      await bucket.write(keyOf(seal.number), bytes);
      await bucket.write(last, bytes);
    },
  };
};
