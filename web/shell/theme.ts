/** Theme: light, dark or system. The choice is stored in this browser. */
import { type ShallowRef, shallowRef } from 'vue';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const themeKey = 'sallyport.theme';
const chosen = shallowRef<Theme>('system');

export const theme: Readonly<ShallowRef<Theme>> = chosen;

const isTheme = (text: string | null): text is Theme => themes.some((known) => known === text);

export const chooseTheme = (next: Theme): void => {
  chosen.value = next;
  if (next === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = next;
  try {
    localStorage.setItem(themeKey, next);
  } catch {
    // A browser may forbid storage: the choice holds until the reload.
  }
};

export const startTheme = (): void => {
  try {
    const stored = localStorage.getItem(themeKey);
    if (isTheme(stored)) chooseTheme(stored);
  } catch {
    // No storage: the system theme.
  }
};
