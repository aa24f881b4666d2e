import { defineConfig } from 'vitest/config';

/** `isolate: false` loads a large library once for all files of a project. */
type Options = { readonly seconds: number; readonly globalSetup?: string[]; readonly isolate?: boolean };

const env = { POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' };
const project = (
  name: string,
  include: string[],
  { seconds, globalSetup = [], isolate = true }: Options,
) => ({
  test: {
    name,
    include,
    env,
    globalSetup,
    isolate,
    testTimeout: seconds * 1000,
    hookTimeout: seconds * 1000,
    exclude: ['**/fixtures/**', '**/node_modules/**'],
  },
});

/** One project per kind of proof (CONTRIBUTING.md, "Tests"); the timeouts are ceilings for a hung test, not measurements. */
export default defineConfig({
  test: {
    projects: [
      project(
        'unit',
        ['shared/**/*.test.ts', 'functions/**/*.test.ts', 'sandbox-task/**/*.test.ts', 'local/**/*.test.ts'],
        { seconds: 30 },
      ),
      project('web', ['web/**/*.test.ts'], { seconds: 30 }),
      project('synth', ['infra/**/*.test.ts'], { seconds: 120, isolate: false }),
      project('tidy', ['tests/tidy/**/*.test.ts'], { seconds: 60 }),
      project('conformance', ['tests/conformance/**/*.test.ts'], { seconds: 60 }),
      project('escape', ['tests/escape/**/*.test.ts'], { seconds: 120, globalSetup: ['tests/setup.ts'] }),
      project('e2e', ['tests/e2e/**/*.test.ts'], { seconds: 180, globalSetup: ['tests/setup.ts'] }),
    ],
  },
});
