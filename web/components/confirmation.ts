/** Confirmation before an irreversible action: a promise, shown by confirm-dialog.vue. */
import { type ShallowRef, shallowRef } from 'vue';

export type Question = {
  readonly title: string;
  readonly text: string;
  /** The verb on the confirming button. */
  readonly action: string;
  readonly isDangerous?: boolean;
};

type OpenQuestion = Question & { readonly answer: (isYes: boolean) => void };

const open = shallowRef<OpenQuestion>();
export const question: Readonly<ShallowRef<OpenQuestion | undefined>> = open;

export const confirm = (next: Question): Promise<boolean> =>
  new Promise((resolve) => {
    open.value?.answer(false);
    open.value = {
      ...next,
      answer: (isYes) => {
        open.value = undefined;
        resolve(isYes);
      },
    };
  });
