/** Texts of files as they were when their change was approved here: the card of the call shows the difference that was approved. */
type Comparison = { readonly session: string; readonly path: string; readonly content: string };

/** The newest ones: a conversation is not kept in memory twice. */
const rememberedMax = 50;
const texts = new Map<string, string>();
const keyOf = ({ session, path, content }: Comparison): string => JSON.stringify([session, path, content]);

export const rememberComparison = (compared: Comparison, before: string): void => {
  texts.set(keyOf(compared), before);
  const [oldest] = texts.keys();
  if (texts.size > rememberedMax && oldest !== undefined) texts.delete(oldest);
};

export const comparedText = (compared: Comparison): string | undefined => texts.get(keyOf(compared));
