/**
 * Results of Node code: one MIME bundle for each displayed value, and one for the value of the last expression.
 *
 * A value describes itself by `[Symbol.for('sallyport.display')]()`, which gives a bundle: data by MIME type.
 */
import { inspect, types } from 'node:util';
import {
  type InterpreterMessage,
  isJsonType,
  isTextType,
  jsonBytesMax,
  resultBytesMax,
  resultMimeType,
  resultPartsMax,
} from '../../wire/program-messages.ts';

type Bundle = Readonly<Record<string, unknown>>;
type Send = (message: InterpreterMessage, payload?: Buffer) => void;
type Part = { readonly mimeType: string; readonly content: Buffer };
export type Results = {
  /** `display(value)` or `display(mimeType, data)`, with bytes, base64 text, text or JSON. */
  readonly display: (...given: readonly unknown[]) => void;
  readonly showValue: (value: unknown) => void;
};

const displaySymbol = Symbol.for('sallyport.display');

const topLevelTypes = /^(?:image|text|application|audio|video|font|model|message|multipart)\/[\w.+-]+$/;

export const createResults = (send: Send): Results => {
  const emit = (bundle: Bundle, isValue: boolean): void => {
    const all = Object.entries(bundle).flatMap(([mimeType, data]) => partOf(mimeType, data));
    // An interpreter whose result has more forms breaks its protocol and is ended.
    const parts = fitting(all.slice(0, resultPartsMax));
    const payload = Buffer.concat(parts.map(({ content }) => content));
    const shapes = parts.map(({ mimeType, content }) => ({ mimeType, bytes: content.length }));
    const shown = payload.length <= resultBytesMax ? payload : undefined;
    send({ type: 'result', isValue, parts: shapes }, shown);
  };
  return {
    display: (...given) => {
      const [mimeType, data] = given;
      if (given.length === 2 && typeof mimeType === 'string' && topLevelTypes.test(mimeType)) {
        if (!resultMimeType.test(mimeType))
          throw new TypeError(`display shows image/*, text/* and application/*, not ${mimeType}`);
        emit({ [mimeType]: data }, false);
        return;
      }
      for (const value of given) emit(bundleOf(value), false);
    },
    showValue: (value) => emit(bundleOf(value), true),
  };
};

const textCharactersMax = 128 * 1024;

/** Its text, and the other forms that it has. */
const bundleOf = (value: unknown): Bundle => {
  const text = { 'text/plain': cut(inspect(value)) };
  if (typeof value !== 'object' || value === null || types.isProxy(value)) return text;
  const own = ownForms(value);
  if (own !== undefined) return { ...text, ...own };
  const json = isPlain(value) ? toJson(value) : undefined;
  return json === undefined ? text : { ...text, 'application/json': json };
};

const cut = (text: string): string =>
  text.length <= textCharactersMax
    ? text
    : `${text.slice(0, textCharactersMax)}… (${text.length - textCharactersMax} characters more)`;

const ownForms = (value: object): Bundle | undefined => {
  const describe: unknown = Reflect.get(value, displaySymbol);
  const forms: unknown = typeof describe === 'function' ? describe.call(value) : describe;
  return typeof forms === 'object' && forms !== null ? (forms as Bundle) : undefined;
};

const isPlain = (value: object): boolean =>
  Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** Nothing when it is not JSON, or too long. */
const toJson = (value: object): string | undefined => {
  let characters = 0;
  const count = (key: string, inner: unknown): unknown => {
    characters += key.length + 2 + (typeof inner === 'string' ? inner.length : 0);
    if (characters > jsonBytesMax) throw new RangeError('too long');
    return inner;
  };
  try {
    return JSON.stringify(value, count);
  } catch {
    return undefined;
  }
};

/** Without the longest forms, as long as another is left. */
const fitting = (parts: readonly Part[]): readonly Part[] => {
  const sum = parts.reduce((bytes, { content }) => bytes + content.length, 0);
  if (parts.length < 2 || sum <= resultBytesMax) return parts;
  const longest = Math.max(...parts.map(({ content }) => content.length));
  const at = parts.findIndex(({ content }) => content.length === longest);
  return fitting(parts.toSpliced(at, 1));
};

const partOf = (mimeType: string, data: unknown): readonly Part[] =>
  data === undefined || data === null || !resultMimeType.test(mimeType)
    ? []
    : [{ mimeType, content: encode(mimeType, data) }];

const base64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

const encode = (mimeType: string, data: unknown): Buffer => {
  if (isJsonType(mimeType)) return encodeJson(data);
  if (typeof data !== 'string') return fromBytes(data);
  if (mimeType.startsWith('text/')) return Buffer.from(data);
  if (base64.test(data)) return Buffer.from(data, 'base64');
  if (isTextType(mimeType)) return Buffer.from(data);
  throw new TypeError('an image is bytes or base64 text');
};

const encodeJson = (data: unknown): Buffer => {
  if (typeof data !== 'string') return Buffer.from(JSON.stringify(data));
  JSON.parse(data);
  return Buffer.from(data);
};

const fromBytes = (data: unknown): Buffer => {
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return Buffer.from(data);
  throw new TypeError('an image is bytes or base64 text');
};
