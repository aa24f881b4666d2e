/** The escape tests on the sandbox's image, which `npm run verify:image` has built and names. */
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noProcessEnv: a configuration of its own, and this is its one read
const sandboxImage = process.env['SANDBOX_IMAGE'];
if (sandboxImage === undefined) throw new Error('run "npm run verify:image", which names the image');

export default defineConfig({
  root: join(import.meta.dirname, '..', '..'),
  test: {
    name: 'image',
    include: ['tests/escape/{escape,confinement}.test.ts'],
    provide: { sandboxImage },
    isolate: false,
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
