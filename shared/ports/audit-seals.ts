/** Seals of the audit log, and the key that signs them. */
import type { Seal, Signature } from '../domain/audit-seal.ts';

export interface AuditSeals {
  /** Undefined before the first. */
  last(): Promise<Seal | undefined>;
  /** Undefined for a number that there is not. */
  read(number: number): Promise<Seal | undefined>;
  /** It becomes the last one, unless there is one of its number, which then does. */
  write(seal: Seal): Promise<void>;
}

export interface SealKey {
  /** In PEM; undefined where the deployment has no key. */
  publicKey(): Promise<
    { readonly keyId: string; readonly algorithm: string; readonly publicKey: string } | undefined
  >;
  /** Undefined where the deployment has no key. */
  sign(text: string): Promise<Signature | undefined>;
}
