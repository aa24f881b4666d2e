/**
 * The tar format as archives of folders have it: POSIX headers, with a pax header before an entry whose name, target or
 * size does not fit into the old fields (pax(1), "pax Interchange Format").
 *
 * It knows files, folders and links; owners and the names of devices are never written.
 */

export const tarBlockBytes = 512;

export type TarEntry = {
  /** Relative, without a slash at its end. */
  readonly path: string;
  readonly mode: number;
  readonly mtimeMs: number;
} & (
  | { readonly type: 'file'; readonly size: number }
  | { readonly type: 'directory' }
  | { readonly type: 'symlink'; readonly target: string }
);

const nameBytesMax = 100;
/** Eleven octal digits. */
const sizeMax = 0o77777777777;
const typeFlags = { file: '0', symlink: '2', directory: '5' } as const;
const utf8 = new TextEncoder();

export const encodeTarHeader = (entry: TarEntry): Uint8Array => {
  const name = entry.type === 'directory' ? `${entry.path}/` : entry.path;
  const target = entry.type === 'symlink' ? entry.target : '';
  const size = entry.type === 'file' ? entry.size : 0;
  const records = [
    ...(fitsName(name) ? [] : [paxRecord('path', name)]),
    ...(fitsName(target) ? [] : [paxRecord('linkpath', target)]),
    ...(size <= sizeMax ? [] : [paxRecord('size', String(size))]),
  ];
  const own = header({ ...entry, name, target, size: Math.min(size, sizeMax), flag: typeFlags[entry.type] });
  if (records.length === 0) return own;
  const body = utf8.encode(records.join(''));
  const pax = header({ ...entry, name: 'pax', target: '', mode: 0o644, size: body.length, flag: 'x' });
  return joined([pax, body, new Uint8Array(tarPadding(body.length)), own]);
};

/** The zeros after the content of a file. */
export const tarPadding = (size: number): number => (tarBlockBytes - (size % tarBlockBytes)) % tarBlockBytes;

export const tarEnd = (): Uint8Array => new Uint8Array(2 * tarBlockBytes);

/** Other characters have no agreed encoding in the old field. */
const fitsName = (text: string): boolean => text.length <= nameBytesMax && /^[\x20-\x7e]*$/.test(text);

/** Its length counts itself. */
const paxRecord = (key: string, value: string): string => {
  const rest = ` ${key}=${value}\n`;
  const bytes = utf8.encode(rest).length;
  let length = bytes + 1;
  while (length !== bytes + String(length).length) length = bytes + String(length).length;
  return `${length}${rest}`;
};

type Fields = {
  readonly name: string;
  readonly target: string;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly size: number;
  readonly flag: string;
};

const checksumAt = 148;

const header = ({ name, target, mode, mtimeMs, size, flag }: Fields): Uint8Array => {
  const block = new Uint8Array(tarBlockBytes);
  const text = (at: number, value: string, bytesMax: number): void =>
    block.set(utf8.encode(value).subarray(0, bytesMax), at);
  const octal = (at: number, value: number, digits: number): void =>
    text(at, Math.max(0, Math.floor(value)).toString(8).padStart(digits, '0'), digits);
  text(0, name, nameBytesMax);
  octal(100, mode & 0o777, 7);
  octal(108, 0, 7);
  octal(116, 0, 7);
  octal(124, size, 11);
  octal(136, mtimeMs / 1000, 11);
  text(checksumAt, ' '.repeat(8), 8);
  text(156, flag, 1);
  text(157, target, nameBytesMax);
  text(257, 'ustar\u000000', 8);
  octal(checksumAt, sumOf(block), 6);
  block[checksumAt + 6] = 0;
  return block;
};

/** The sum of a header's bytes, its own field read as spaces. */
export const sumOf = (block: Uint8Array): number =>
  block.reduce((sum, byte, at) => sum + (at >= checksumAt && at < checksumAt + 8 ? 0x20 : byte), 0);

const joined = (parts: readonly Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};
