/** What sessions are about, by the first words said in them; known for those that were opened in this tab. */
import { type ShallowRef, shallowRef } from 'vue';

const titlesKey = 'sallyport.titles';
const titlesMax = 200;
const titleCharactersMax = 60;

const readTitles = (): ReadonlyMap<string, string> => {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(titlesKey) ?? '[]'));
  } catch {
    return new Map();
  }
};

const kept = shallowRef(readTitles());
export const titles: Readonly<ShallowRef<ReadonlyMap<string, string>>> = kept;

export const rememberTitle = (sessionId: string, firstText: string): void => {
  const title = firstText.replaceAll(/\s+/g, ' ').trim().slice(0, titleCharactersMax);
  if (kept.value.get(sessionId) === title) return;
  const entries = [...kept.value].filter(([id]) => id !== sessionId);
  kept.value = new Map([...entries, [sessionId, title] as const].slice(-titlesMax));
  try {
    sessionStorage.setItem(titlesKey, JSON.stringify([...kept.value]));
  } catch {
    // A browser may forbid storage; titles are then forgotten at the reload.
  }
};
