/** Digests of calls and effects, made again without the project's own code. */
import { createHash } from 'node:crypto';

type Json = Readonly<Record<string, unknown>>;

/** By RFC 8785, for what these tests hold. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(Reflect.get(value, name))}`).join(',')}}`;
};

const sha256Of = (value: Json): string => createHash('sha256').update(canonical(value)).digest('hex');

export const digestOf = ({ args, callId, name, turnId }: Json): string =>
  sha256Of({ args, callId, name, turnId });

export const effectDigestOf = ({ digest, effect }: Json): string => sha256Of({ digest, effect });
