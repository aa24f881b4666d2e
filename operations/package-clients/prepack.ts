/** The step of `npm pack` in `sdk/` that builds the library. An argument names another folder than `sdk/dist`. */
import { inRepository } from '../../infra/constructs/repository-path.ts';
import { buildLibrary } from './library.ts';

await buildLibrary(process.argv[2] ?? inRepository('sdk/dist'));
