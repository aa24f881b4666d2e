/** Short notices that disappear by themselves, and announcements for screen readers. */
import { type ShallowRef, shallowRef } from 'vue';

export type Notice = { readonly id: number; readonly kind: 'good' | 'bad' | 'info'; readonly text: string };

const noticeMs = 6000;
let lastId = 0;
const list = shallowRef<readonly Notice[]>([]);
const spoken = shallowRef('');

export const notices: Readonly<ShallowRef<readonly Notice[]>> = list;
export const announcement: Readonly<ShallowRef<string>> = spoken;

/** Shows a notice for a few seconds, and announces it. */
export const notify = (text: string, kind: Notice['kind'] = 'good'): void => {
  lastId += 1;
  const id = lastId;
  list.value = [...list.value, { id, kind, text }];
  setTimeout(() => dismiss(id), noticeMs);
};

export const dismiss = (id: number): void => {
  list.value = list.value.filter((notice) => notice.id !== id);
};

/** Announces a text without showing it. */
export const announce = (text: string): void => {
  // A screen reader announces only changes: a repeated text gets a space.
  spoken.value = spoken.value === text ? `${text}\u00A0` : text;
};
