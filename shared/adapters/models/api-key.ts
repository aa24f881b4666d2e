/** A key as a header can carry it. Refused without being shown: any other would be quoted in an error. */
import { AppError } from '#shared/errors.ts';

export const headerSafe = (apiKey: string, variable: string): string => {
  const key = apiKey.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new AppError('provider_not_configured', `${variable} has characters that no key has`);
};
