/**
 * The message in the box that waits until its files are uploaded.
 *
 * It is held as it was written: an edit calls it off, and the person sends again. The same message is not held twice.
 */
import { computed, type Ref, shallowRef } from 'vue';

type HeldMessage<Files> = {
  /** It waits, and nothing was changed since. */
  readonly isHeld: Readonly<Ref<boolean>>;
  /** The files, or undefined: it was called off, or `ready` has none. */
  readonly hold: (ready: () => Promise<Files | undefined>) => Promise<Files | undefined>;
  /** The box is removed. */
  readonly callOff: () => void;
};

type Held = { readonly to: string; readonly text: string };

/** `box`: its text, and the session that it is for. `onLeft`: a message was not sent, since its session was left before the files were there. */
export const useHeldMessage = <Files>(
  box: () => readonly [to: string, text: string],
  onLeft: (held: Held) => void,
): HeldMessage<Files> => {
  const held = shallowRef<Held>();
  let isRemoved = false;
  const isHeld = computed(() => {
    const [to, text] = box();
    return held.value?.to === to && held.value.text === text;
  });
  const hold: HeldMessage<Files>['hold'] = async (ready) => {
    if (isHeld.value) return undefined;
    const [to, text] = box();
    const own = { to, text };
    held.value = own;
    const files = await ready();
    const isCalledOff = held.value !== own || !isHeld.value;
    if (held.value === own) held.value = undefined;
    if (isRemoved || box()[0] !== to) onLeft(own);
    return isCalledOff ? undefined : files;
  };
  const callOff = (): void => {
    held.value = undefined;
    isRemoved = true;
  };
  return { isHeld, hold, callOff };
};
