/** API keys that a header can carry. Any other is refused without being shown, since an HTTP error would quote it. */
import { AppError } from '#shared/errors.ts';

export const headerSafe = (apiKey: string, variable: string): string => {
  const key = apiKey.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new AppError('provider_not_configured', `${variable} has characters that a key cannot contain`);
};
