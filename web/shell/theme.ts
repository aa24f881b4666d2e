/** Light, dark, or as the system has it: what a person chose is kept in this browser. */
import { type ShallowRef, shallowRef } from 'vue';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const themeKey = 'sallyport.theme';
const chosen = shallowRef<Theme>('system');

export const theme: Readonly<ShallowRef<Theme>> = chosen;

const isTheme = (text: string | null): text is Theme => themes.some((known) => known === text);

export const chooseTheme = (wanted: Theme): void => {
  chosen.value = wanted;
  if (wanted === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = wanted;
  try {
    localStorage.setItem(themeKey, wanted);
  } catch {
    // A browser may forbid storage; the choice then holds until the reload.
  }
};

export const startTheme = (): void => {
  try {
    const kept = localStorage.getItem(themeKey);
    if (isTheme(kept)) chooseTheme(kept);
  } catch {
    // As the system has it.
  }
};
