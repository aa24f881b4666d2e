/** The step of `npm pack` in `sdk/` that builds the library. An argument names another folder than `sdk/dist`. */
import { join } from 'node:path';
import { buildLibrary } from './library.ts';
import { repository } from './repository.ts';

await buildLibrary(process.argv[2] ?? join(repository, 'sdk', 'dist'));
