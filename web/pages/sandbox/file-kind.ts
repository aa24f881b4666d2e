/**
 * Kind of a file by its name and bytes: text, a picture, or binary. Pure.
 *
 * Text decodes as UTF-8 and has no NUL. An SVG is shown as source, because as a picture it could load and run things.
 */
export type FileShape =
  | { readonly kind: 'text'; readonly text: string; readonly lineEnd: '\n' | '\r\n' | 'mixed' }
  | { readonly kind: 'picture'; readonly mimeType: string }
  | { readonly kind: 'binary' };

/** `large`: not loaded. */
export type ShownShape = FileShape | { readonly kind: 'large' };

/** Larger files are not loaded. */
const shownBytesMax = 1024 * 1024;
const pictureBytesMax = 8 * 1024 * 1024;

const pictureTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

const languages: Readonly<Record<string, string>> = {
  py: 'python',
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  ts: 'typescript',
  mts: 'typescript',
  tsx: 'typescript',
  jsx: 'javascript',
  vue: 'vue',
  html: 'xml',
  svg: 'xml',
  xml: 'xml',
  css: 'css',
  json: 'json',
  jsonc: 'json',
  md: 'markdown',
  yml: 'yaml',
  yaml: 'yaml',
  sh: 'bash',
  bash: 'bash',
  sql: 'sql',
  rs: 'rust',
  go: 'go',
  diff: 'diff',
  patch: 'diff',
};

const extensionOf = (name: string): string => /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';

const pictureTypeOf = (name: string): string | undefined => pictureTypes[extensionOf(name)];

export const languageOf = (name: string): string =>
  /(^|\/)dockerfile$/i.test(name) ? 'dockerfile' : (languages[extensionOf(name)] ?? '');

/** The largest size that is loaded. */
export const bytesMaxOf = (name: string): number =>
  pictureTypeOf(name) === undefined ? shownBytesMax : pictureBytesMax;

export const shapeOf = (name: string, bytes: Uint8Array): FileShape => {
  const mimeType = pictureTypeOf(name);
  if (mimeType !== undefined) return { kind: 'picture', mimeType };
  if (bytes.includes(0)) return { kind: 'binary' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { kind: 'text', text, lineEnd: lineEndOf(text) };
  } catch {
    return { kind: 'binary' };
  }
};

const lineEndOf = (text: string): '\n' | '\r\n' | 'mixed' => {
  if (!text.includes('\r')) return '\n';
  return /(^|[^\r])\n|\r(?!\n)/.test(text) ? 'mixed' : '\r\n';
};

/** Restores the line endings, which a text field normalizes. */
export const withLineEnd = (text: string, lineEnd: '\n' | '\r\n'): string =>
  lineEnd === '\n' ? text : text.replaceAll('\n', '\r\n');
