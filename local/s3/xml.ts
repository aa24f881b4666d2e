/**
 * The XML of S3: elements with text, written by one function and read by another.
 *
 * The reader understands one flat list of elements, which is enough for the bodies of DeleteObjects and
 * CompleteMultipartUpload.
 */
import type { ServerResponse } from 'node:http';

type XmlContent = string | number | boolean | readonly XmlElement[];
export type XmlElement = readonly [name: string, content: XmlContent];

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';

export const sendXml = (response: ServerResponse, name: string, content: readonly XmlElement[]): void => {
  response.writeHead(200, { 'content-type': 'application/xml' }).end(document(name, content));
};

export const document = (name: string, content: readonly XmlElement[]): string =>
  declaration + element(name, content);

export type XmlDocument = readonly [name: string, content: readonly XmlElement[]];

/**
 * An answer that begins at once, with 200, and has white space until its document is known: a client that waits for bytes does not
 * give up. https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html
 */
export const sendXmlOnceKnown = async (
  response: ServerResponse,
  known: Promise<XmlDocument>,
  everyMs: number,
): Promise<void> => {
  response.writeHead(200, { 'content-type': 'application/xml' }).write(declaration);
  const keepAlive = setInterval(() => response.write(' '), everyMs);
  try {
    response.end(element(...(await known)));
  } finally {
    clearInterval(keepAlive);
  }
};

const element = (name: string, content: readonly XmlElement[]): string =>
  `<${name} xmlns="${namespace}">${content.map(render).join('')}</${name}>`;

const render = ([name, content]: XmlElement): string =>
  `<${name}>${typeof content === 'object' ? content.map(render).join('') : escapeText(String(content))}</${name}>`;

/** Control characters too: a key may hold any of them. */
const escapeText = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not be sent unescaped.
  text.replace(/[&<>"\u0000-\u001f\u007f]/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`);

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const unescapeText = (text: string): string =>
  text.replace(/&(#?\w+);/g, (whole, name: string) => entities[name] ?? characterOf(name) ?? whole);

const characterOf = (reference: string): string | undefined => {
  if (!/^#(\d+|x[0-9a-f]+)$/i.test(reference)) return undefined;
  // `#x1F` without its `#`, read as `0x1F`.
  return String.fromCodePoint(Number(reference.slice(1).replace(/^x/i, '0x')));
};

/** The texts of all elements of one name, in order. */
export const textsOf = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text]) =>
    unescapeText(text ?? ''),
  );
