/** The content of a file as programs have it, and what is sent of it. */
import { connectionLost } from './errors.ts';
import type { Signalled } from './route.ts';

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
  // A view of shared memory cannot be sent: its bytes are copied.
  return content instanceof Blob ? content : new Uint8Array(content as ArrayBuffer);
};

export const sizeOf = (content: Sent): number => (content instanceof Blob ? content.size : content.length);

export const sliceOf = (content: Sent, from: number, to: number): Sent =>
  content instanceof Blob ? content.slice(from, to) : content.subarray(from, to);

export const readAs = async <Format extends ContentFormat>(
  response: Response,
  format: Format,
  options: Signalled,
): Promise<ContentOf[Format]> => {
  const read: { readonly [Name in ContentFormat]: () => Promise<ContentOf[Name]> } = {
    text: () => response.text(),
    bytes: async () => new Uint8Array(await response.arrayBuffer()),
    stream: async () => streamOf(response, options),
  };
  return read[format]();
};

/** The body of an answer. One that breaks off fails as `connection_lost`, and with the caller's reason after an abort. */
export const streamOf = ({ body }: Response, { signal }: Signalled): ReadableStream<Uint8Array> => {
  const reader = (body ?? new Blob([]).stream()).getReader();
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await reader.read().catch((cause) => {
        throw signal?.aborted ? signal.reason : connectionLost(cause);
      });
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
};
