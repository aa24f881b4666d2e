/** What the app tells besides what it shows: short notices that go by themselves, and words for a screen reader alone. */
import { type ShallowRef, shallowRef } from 'vue';

export type Notice = { readonly id: number; readonly kind: 'good' | 'bad' | 'info'; readonly text: string };

const noticeMs = 6000;
let lastId = 0;
const list = shallowRef<readonly Notice[]>([]);
const spoken = shallowRef('');

export const notices: Readonly<ShallowRef<readonly Notice[]>> = list;
export const announcement: Readonly<ShallowRef<string>> = spoken;

/** Shown in a corner for a moment, and read out. */
export const notify = (text: string, kind: Notice['kind'] = 'good'): void => {
  lastId += 1;
  const id = lastId;
  list.value = [...list.value, { id, kind, text }];
  setTimeout(() => dismiss(id), noticeMs);
};

export const dismiss = (id: number): void => {
  list.value = list.value.filter((notice) => notice.id !== id);
};

/** Read out, and not shown. */
export const announce = (text: string): void => {
  // The same words twice are no change, and a change is what is read out.
  spoken.value = spoken.value === text ? `${text}\u00A0` : text;
};
