/** The images that one request shows a model: the newest of its history, so that their number stays in bounds. */
import type { HistoryImage, HistoryMessage } from '#shared/domain/history.ts';
import { imagesLeftOut } from '#shared/domain/result-images.ts';

/** A message that may have images: a result of a tool, or the user's. */
type Showing = Exclude<HistoryMessage, { role: 'assistant' }>;
export type ImagesOf = (message: Showing) => readonly HistoryImage[];

export const hasImages = (history: readonly HistoryMessage[]): boolean =>
  history.some((message) => message.role !== 'assistant' && message.images !== undefined);

export const shownImages = (history: readonly HistoryMessage[], withImages: boolean): ImagesOf => {
  if (!withImages) return () => [];
  const showing = history.filter((message): message is Showing => message.role !== 'assistant');
  let left = imagesLeftOut(showing.reduce((sum, { images = [] }) => sum + images.length, 0));
  const shown = new Map(
    showing.map((message) => {
      const { images = [] } = message;
      const dropped = Math.min(left, images.length);
      left -= dropped;
      return [message, images.slice(dropped)] as const;
    }),
  );
  return (message) => shown.get(message) ?? [];
};
