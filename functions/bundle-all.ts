/** `node functions/bundle-all.ts <folder>` writes the bundles of all functions for AWS: a synth, which cannot wait for a promise, runs it. */
import { bundleHandlers } from './bundle.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('name the folder of the bundles');
await bundleHandlers(folder);
