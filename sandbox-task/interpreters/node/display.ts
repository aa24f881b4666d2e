/** `display(mimeType, data)`: shows a picture (bytes, or base64 text) or a text beside the output of the call. */
import { displayBytesMax, type InterpreterMessage } from '../../wire/interpreter-messages.ts';

export type Display = (mimeType: string, data: string | ArrayBuffer | ArrayBufferView) => void;

export const createDisplay =
  (send: (message: InterpreterMessage, payload?: Buffer) => void): Display =>
  (mimeType, data) => {
    if (typeof mimeType !== 'string' || !/^(image|text)\//.test(mimeType))
      throw new TypeError(`display shows image/* and text/*, not ${String(mimeType)}`);
    const content = typeof data === 'string' ? fromText(mimeType, data) : fromBytes(data);
    const shown = content.length <= displayBytesMax ? content : undefined;
    send({ type: 'display', mimeType, bytes: content.length }, shown);
  };

const base64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

const fromText = (mimeType: string, text: string): Buffer => {
  if (mimeType.startsWith('text/')) return Buffer.from(text);
  if (base64.test(text)) return Buffer.from(text, 'base64');
  if (mimeType === 'image/svg+xml') return Buffer.from(text);
  throw new TypeError('an image is bytes or base64 text');
};

const fromBytes = (data: ArrayBuffer | ArrayBufferView): Buffer => {
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return Buffer.from(data);
  throw new TypeError('an image is bytes or base64 text');
};
