/** The absolute path of a file: infra names the code of others by its path in the repository and never imports it. */
import { fileURLToPath } from 'node:url';

export const inRepository = (path: string): string =>
  fileURLToPath(new URL(`../../${path}`, import.meta.url));
