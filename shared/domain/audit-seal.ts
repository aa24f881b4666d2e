/**
 * The sealed record: the chain of a session's decisions, and seals over all rows of the audit log.
 *
 * A decision's row holds the hash of the decision before it in its session. A seal holds one root over every row of its time,
 * and the hash of the seal before it; it is signed. All hashes are SHA-256 of canonical JSON (RFC 8785), so that a reader of an
 * export makes them again.
 */

import { canonicalJson } from './canonical-json.ts';
import type { Json, JsonObject } from './json.ts';

/** The place of a row among the decisions of its session. */
export type ChainLink = {
  /** From 1. */
  readonly index: number;
  /** The hash of the row before; of the first, `noHash`. */
  readonly previous: string;
};

/** The newest row of a chain. */
export type ChainHead = { readonly index: number; readonly hash: string };

/** The newest decision as its turn keeps it. `at`: epoch milliseconds; absent in a record from before it was kept. */
export type LastDecision = ChainHead & { readonly at?: number | undefined };

export const noHash = '0'.repeat(64);

export const nextLink = (head: ChainHead | undefined): ChainLink => ({
  index: (head?.index ?? 0) + 1,
  previous: head?.hash ?? noHash,
});

/** The newest decision of each session in the time of a seal. */
export type Heads = Readonly<Record<string, ChainHead>>;

export type SealedTime = {
  /** Epoch milliseconds: rows from here, and before `through`. */
  readonly from: number;
  readonly through: number;
  readonly rows: number;
  /** The hash of the rows' hashes, in the order of their ids. */
  readonly rowsHash: string;
  readonly heads: Heads;
};

export type UnsignedSeal = SealedTime & {
  /** From 1. */
  readonly number: number;
  /** The hash of the seal before; of the first, `noHash`. */
  readonly previous: string;
  /** Of the time and the seal before: what is signed stands for all rows. */
  readonly root: string;
  /** ISO 8601, UTC. */
  readonly at: string;
};

/** Absent where the deployment has no key. */
export type Signature = {
  readonly keyId: string;
  readonly algorithm: SealAlgorithm;
  readonly signature: string;
};

export const sealAlgorithm = 'ECDSA-P256-SHA256';
export type SealAlgorithm = typeof sealAlgorithm;

export type Seal = UnsignedSeal & Partial<Signature>;

export type Hash = (text: string) => string;

const canonical = (value: object): string => canonicalJson(JSON.parse(JSON.stringify(value)) as Json);

/** Of a row as an export shows it, without its id and its hash. */
export const rowHash = (row: JsonObject, hash: Hash): string => hash(canonical(row));

export const rowsHash = (hashes: readonly string[], hash: Hash): string => hash(hashes.join('\n'));

export const rootOf = (
  { from, through, rows, rowsHash: sum, heads, previous }: SealedTime & Pick<Seal, 'previous'>,
  hash: Hash,
): string => hash(canonical({ from, through, rows, rowsHash: sum, heads, previous }));

/** The text that is signed. */
export const sealText = ({ signature: _, keyId: __, algorithm: ___, ...seal }: Seal): string =>
  canonical(seal);

/** With its signature: a seal that was signed again has another. */
export const sealHash = (seal: Seal, hash: Hash): string => hash(canonical(seal));

export type SealedRow = {
  readonly subject: string;
  readonly hash: string;
  readonly chain?: ChainLink | undefined;
};

/** Of rows in the order of their ids. */
export const headsOf = (rows: readonly SealedRow[]): Heads =>
  Object.fromEntries(
    rows.flatMap(({ subject, hash, chain }) =>
      chain === undefined ? [] : [[subject, { index: chain.index, hash }]],
    ),
  );
