/** What one call displays: at most eight things and four megabytes in all, the rest counted. */
import { displayBytesMax, displaysMax } from '../wire/interpreter-messages.ts';

export type Display = { readonly mimeType: string; readonly content: Buffer };

export const createDisplays = () => {
  const kept: Display[] = [];
  let keptBytes = 0;
  let leftOut = 0;
  return {
    add: (
      mimeType: string,
      { content, bytes }: { readonly content: Buffer; readonly bytes: number },
    ): void => {
      const isWhole = content.length === bytes;
      if (!isWhole || kept.length === displaysMax || keptBytes + bytes > displayBytesMax) {
        leftOut += 1;
        return;
      }
      // The frame that it lies in is larger, and would be kept with it.
      kept.push({ mimeType, content: Buffer.from(content) });
      keptBytes += bytes;
    },
    end: () => ({ displays: kept, displaysLeftOut: leftOut }),
  };
};
