/**
 * The secrets of a project: the names and values there can be, and how many.
 *
 * Names are those of environment variables, so that `${NAME}` in a header or variable stands for one; a name that
 * every object inherits is refused.
 */
import { projectSecretsBytesMax, projectSecretsMax, secretValueBytesMax } from './limits.ts';
import { utf8Bytes } from './text.ts';

export type Secrets = Readonly<Record<string, string>>;

export type SecretsRefusal = 'too many' | 'too large';

const nameSyntax = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export const isSecretName = (name: string): boolean => nameSyntax.test(name) && name !== '__proto__';

/** No NUL, since no environment can hold one; and no half of a surrogate pair, which UTF-8 cannot. */
export const isSecretValue = (value: string): boolean =>
  value !== '' && !value.includes('\0') && value.isWellFormed() && utf8Bytes(value) <= secretValueBytesMax;

export const withSecret = (secrets: Secrets, name: string, value: string): Secrets | SecretsRefusal => {
  const next = { ...secrets, [name]: value };
  if (Object.keys(next).length > projectSecretsMax) return 'too many';
  return utf8Bytes(JSON.stringify(next)) > projectSecretsBytesMax ? 'too large' : next;
};

export const withoutSecret = (secrets: Secrets, name: string): Secrets =>
  Object.fromEntries(Object.entries(secrets).filter(([known]) => known !== name));
