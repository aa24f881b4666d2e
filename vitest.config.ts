import { defineConfig } from 'vitest/config';

const env = { POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' };
const project = (name: string, include: string[], seconds: number) => ({
  test: {
    name,
    include,
    env,
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
        30,
      ),
      project('synth', ['infra/**/*.test.ts'], 120),
      project('tidy', ['tests/tidy/**/*.test.ts'], 60),
      project('conformance', ['tests/conformance/**/*.test.ts'], 60),
      project('escape', ['tests/escape/**/*.test.ts'], 120),
      project('e2e', ['tests/e2e/**/*.test.ts'], 180),
    ],
  },
});
