/** The content of a file as programs have it, and what is sent of it. */
export type FileContent = string | Uint8Array | ArrayBuffer | Blob;

/** The formats in which content is given back. */
export type ContentOf = {
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly stream: ReadableStream<Uint8Array>;
};
export type ContentFormat = keyof ContentOf;

type Sent = Blob | Uint8Array<ArrayBuffer>;

export const bytesOf = (content: FileContent): Sent => {
  if (typeof content === 'string') return new TextEncoder().encode(content);
  if (content instanceof Blob) return content;
  // A view of shared memory cannot be sent.
  return content instanceof ArrayBuffer ? new Uint8Array(content) : new Uint8Array(content);
};

export const sizeOf = (content: Sent): number => (content instanceof Blob ? content.size : content.length);

export const sliceOf = (content: Sent, from: number, to: number): Sent =>
  content instanceof Blob ? content.slice(from, to) : content.subarray(from, to);

export const readAs = async <Format extends ContentFormat>(
  response: Response,
  format: Format,
): Promise<ContentOf[Format]> => {
  const read: { readonly [Name in ContentFormat]: () => Promise<ContentOf[Name]> } = {
    text: () => response.text(),
    bytes: async () => new Uint8Array(await response.arrayBuffer()),
    stream: async () => response.body ?? new Blob([]).stream(),
  };
  return read[format]();
};
