/** A question before something that cannot be taken back: asked with a promise, shown by confirm-dialog.vue. */
import { type ShallowRef, shallowRef } from 'vue';

export type Question = {
  readonly title: string;
  readonly text: string;
  /** The word on the button that does it, a verb. */
  readonly action: string;
  readonly isDangerous?: boolean;
};

type Asked = Question & { readonly answer: (isYes: boolean) => void };

const asked = shallowRef<Asked>();
export const question: Readonly<ShallowRef<Asked | undefined>> = asked;

export const confirm = (wanted: Question): Promise<boolean> =>
  new Promise((resolve) => {
    asked.value?.answer(false);
    asked.value = {
      ...wanted,
      answer: (isYes) => {
        asked.value = undefined;
        resolve(isYes);
      },
    };
  });
