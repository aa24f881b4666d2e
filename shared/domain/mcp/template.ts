/**
 * Templates: `${NAME}` in a header or a variable stands for a secret of the project. The form is checked when a
 * server is registered, and the secret is filled in where the server is reached. A name without a secret is an
 * error that names it.
 */
export type Texts = Readonly<Record<string, string>>;

const template = /\$\{([A-Za-z_][A-Za-z0-9_]{0,127})\}/g;

/** True when every `${` begins the name of a secret and ends with `}`. */
export const isWellFormed = (text: string): boolean => !text.replace(template, '').includes('${');

export const namesOfSecrets = (text: string): readonly string[] =>
  [...text.matchAll(template)].map(([, name]) => String(name));

export type Resolved =
  | { readonly ok: true; readonly texts: Texts }
  /** The names that no secret has, in order. */
  | { readonly ok: false; readonly missing: readonly string[] };

export const resolveTexts = (texts: Texts, secrets: Texts): Resolved => {
  const wanted = Object.values(texts).flatMap(namesOfSecrets);
  const missing = [...new Set(wanted.filter((name) => !Object.hasOwn(secrets, name)))].sort();
  if (missing.length > 0) return { ok: false, missing };
  const filled = Object.entries(texts).map(([key, text]) => [
    key,
    text.replace(template, (_, name: string) => secrets[name] ?? ''),
  ]);
  return { ok: true, texts: Object.fromEntries(filled) };
};
