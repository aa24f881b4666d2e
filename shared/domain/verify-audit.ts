/**
 * The verification of an exported audit log, without the deployment: each row against its hash, each decision against the one
 * before it, each seal against its rows, its predecessor and its signature.
 *
 * Rows after the last seal are bound by nothing but their chains: the newest of them can be dropped unseen, which is said. Seals
 * at the end can be cut off with their rows: a reader who kept the root of one sees that it is missing.
 */
import { type Hash, noHash, rootOf, rowHash, rowsHash, type Seal, sealHash, sealText } from './audit-seal.ts';
import type { JsonObject } from './json.ts';

export type ExportedRow = JsonObject & {
  readonly type: 'row';
  readonly id: string;
  readonly hash: string;
  readonly at: string;
  readonly subject: string;
};
type ChainedRow = ExportedRow & { readonly chain?: { readonly index: number; readonly previous: string } };

export type ExportLine =
  | { readonly type: 'key'; readonly keyId: string; readonly algorithm: string; readonly publicKey: string }
  | ExportedRow
  | (Seal & { readonly type: 'seal' })
  | { readonly type: 'end'; readonly rows: number; readonly seals: number };

export type Verification = {
  readonly rows: number;
  readonly seals: number;
  /** Rows after the last seal. */
  readonly unsealed: number;
  /** The number of the first seal: what older ones held is not in the file. Absent: the file has none. */
  readonly firstSeal?: number;
  readonly signed: number;
  /** The newest seal of the file: kept, it shows later that nothing was cut. */
  readonly lastSeal?: { readonly number: number; readonly root: string };
  readonly problems: readonly string[];
};

export type Verifier = {
  readonly hash: Hash;
  /** Of a time in ISO 8601, in epoch milliseconds. */
  readonly timeOf: (iso: string) => number;
  /** True when the signature of the text is the key's. */
  readonly isSigned: (text: string, signature: string, publicKey: string) => boolean;
  /** The key that is trusted; absent: the one of the file. */
  readonly publicKey?: string | undefined;
  /** The root of a seal that was kept: a file without it was cut, or is another record. */
  readonly keptRoot?: string | undefined;
};

/** Problems that are named; further ones are counted. */
const namedProblemsMax = 50;

export const verifyAudit = async (
  lines: Iterable<ExportLine> | AsyncIterable<ExportLine>,
  verifier: Verifier,
): Promise<Verification> => {
  const check = createCheck(verifier);
  for await (const line of lines) check.read(line);
  return check.finish();
};

type Covered = { readonly at: number; readonly hash: string };
type Head = { readonly index: number; readonly hash: string };

/** All that was read so far. */
type Reading = {
  readonly problems: string[];
  readonly heads: Map<string, Head>;
  key: string | undefined;
  lastId: string;
  /** Rows that no seal has covered yet. */
  open: Covered[];
  seal: Seal | undefined;
  firstSeal: number | undefined;
  rows: number;
  seals: number;
  signed: number;
  hasKept: boolean;
  isEnded: boolean;
};

const createCheck = (verifier: Verifier) => {
  const reading: Reading = {
    ...{ problems: [], heads: new Map(), key: verifier.publicKey, lastId: '', open: [], seal: undefined },
    ...{ firstSeal: undefined, rows: 0, seals: 0, signed: 0, isEnded: false },
    hasKept: verifier.keptRoot === undefined,
  };
  const { problems } = reading;
  const read = (line: ExportLine): void => {
    if (reading.isEnded) problems.push('there are lines after the end');
    if (line.type === 'key') reading.key ??= line.publicKey;
    else if (line.type === 'row') readRow(reading, line, verifier);
    else if (line.type === 'seal') readSeal(reading, line, verifier);
    else if (line.type === 'end') readEnd(reading, line);
    else problems.push('a line is of no known type');
  };
  const finish = (): Verification => {
    if (!reading.isEnded) problems.push('the file has no end');
    if (!reading.hasKept) problems.push(`the file has no seal with the root ${verifier.keptRoot}`);
    const { rows, seals, signed, open, firstSeal, seal } = reading;
    const more = problems.length - namedProblemsMax;
    const named = problems.slice(0, namedProblemsMax);
    return {
      ...{ rows, seals, signed, unsealed: open.length },
      ...(firstSeal === undefined ? {} : { firstSeal }),
      ...(seal === undefined ? {} : { lastSeal: { number: seal.number, root: seal.root } }),
      problems: more > 0 ? [...named, `and ${more} more`] : named,
    };
  };
  return { read, finish };
};

const readEnd = (
  reading: Reading,
  { rows, seals }: { readonly rows: number; readonly seals: number },
): void => {
  reading.isEnded = true;
  if (rows !== reading.rows || seals !== reading.seals)
    reading.problems.push(`the file had ${rows} rows and ${seals} seals`);
};

const readRow = (reading: Reading, row: ChainedRow, { hash, timeOf }: Verifier): void => {
  const { problems, seal } = reading;
  const { type: _, id, hash: own, ...rest } = row;
  const at = timeOf(row.at);
  reading.rows += 1;
  if (rowHash(rest as JsonObject, hash) !== own) problems.push(`row ${id}: was changed`);
  if (Number.parseInt(id, 10) !== at) problems.push(`row ${id}: its time is not that of its id`);
  if (id <= reading.lastId) problems.push(`row ${id}: is out of order`);
  if (seal !== undefined && at < seal.through)
    problems.push(`row ${id}: was added to the time of seal ${seal.number}`);
  reading.lastId = id;
  reading.open.push({ at, hash: own });
  checkChain(reading, row);
};

const checkChain = ({ heads, problems }: Reading, { id, subject, chain, hash: own }: ChainedRow): void => {
  if (chain === undefined) return;
  const before = heads.get(subject);
  heads.set(subject, { index: chain.index, hash: own });
  const isFirst = chain.index === 1;
  if (before === undefined && isFirst !== (chain.previous === noHash))
    problems.push(`row ${id}: is the first decision of session ${subject}, and has one before it`);
  if (before !== undefined && (chain.index !== before.index + 1 || chain.previous !== before.hash))
    problems.push(`row ${id}: does not follow decision ${before.index} of session ${subject}`);
};

const readSeal = (
  reading: Reading,
  { type: _, ...next }: Seal & { type: 'seal' },
  verifier: Verifier,
): void => {
  const { problems, open } = reading;
  const { hash } = verifier;
  reading.seals += 1;
  reading.hasKept ||= next.root === verifier.keptRoot;
  checkPlace(reading, next, hash);
  checkSignature(reading, next, verifier);
  const unbound = open.filter(({ at }) => at < next.from).length;
  if (unbound > 0)
    problems.push(`seal ${next.number}: ${unbound} rows are older than it, and no seal holds them`);
  const hashes = open.filter(({ at }) => at >= next.from && at < next.through).map((row) => row.hash);
  if (hashes.length !== next.rows || rowsHash(hashes, hash) !== next.rowsHash)
    problems.push(
      `seal ${next.number}: holds ${next.rows} rows, and the file has other ones (${hashes.length})`,
    );
  if (rootOf(next, hash) !== next.root) problems.push(`seal ${next.number}: was changed`);
  reading.open = open.filter(({ at }) => at >= next.through);
  reading.seal = next;
  reading.firstSeal ??= next.number;
};

const checkPlace = ({ seal, problems }: Reading, { number, previous, from }: Seal, hash: Hash): void => {
  if (seal === undefined) {
    if (number === 1 && previous !== noHash) problems.push('seal 1: has one before it');
    return;
  }
  const follows = number === seal.number + 1 && from === seal.through && previous === sealHash(seal, hash);
  if (!follows) problems.push(`seal ${number}: does not follow seal ${seal.number}`);
};

const checkSignature = (reading: Reading, next: Seal, { isSigned }: Verifier): void => {
  const { problems, key } = reading;
  const { number, signature } = next;
  if (signature === undefined) {
    if (key !== undefined) problems.push(`seal ${number}: is not signed`);
  } else if (key === undefined) problems.push(`seal ${number}: there is no key to check it with`);
  else if (isSigned(sealText(next), signature, key)) reading.signed += 1;
  else problems.push(`seal ${number}: its signature is not the key's`);
};
