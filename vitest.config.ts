import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vitest/config';
import { temporaryFolder } from './tests/temporary-folder.ts';

/** `isolate: false` loads a large library once for all files of a project. */
type Options = {
  readonly seconds: number;
  readonly globalSetup?: string[];
  readonly isolate?: boolean;
  readonly provide?: { readonly tableEngine: 'memory' };
};

const env = {
  POWERTOOLS_LOG_LEVEL: 'SILENT',
  POWERTOOLS_METRICS_DISABLED: 'true',
  TMPDIR: temporaryFolder,
  NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.compile-cache'),
};
const project = (
  name: string,
  include: string[],
  { seconds, globalSetup = [], isolate = true, provide }: Options,
) => ({
  test: {
    name,
    include,
    env,
    globalSetup,
    isolate,
    ...(provide === undefined ? {} : { provide }),
    testTimeout: seconds * 1000,
    hookTimeout: seconds * 1000,
    exclude: ['**/fixtures/**', '**/node_modules/**'],
  },
});

/** One project per kind of proof (CONTRIBUTING.md, "Tests"); the timeouts are ceilings for a hung test, not measurements. */
export default defineConfig({
  test: {
    // Many tests wait for a sandbox, a browser or a deadline: even two cores have room for two files.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      project(
        'unit',
        [
          'shared/**/*.test.ts',
          'functions/**/*.test.ts',
          'sandbox-task/**/*.test.ts',
          'local/**/*.test.ts',
          'cli/**/*.test.ts',
          'sdk/**/*.test.ts',
        ],
        { seconds: 30, globalSetup: ['tests/setup.ts'] },
      ),
      { plugins: [vue()], ...project('web', ['web/**/*.test.ts'], { seconds: 30 }) },
      project('synth', ['{infra,operations}/**/*.test.ts'], { seconds: 120, isolate: false }),
      project('tidy', ['tests/tidy/**/*.test.ts'], { seconds: 60 }),
      project('conformance', ['tests/conformance/**/*.test.ts'], {
        seconds: 60,
        globalSetup: ['tests/setup.ts'],
      }),
      // The stores of the simulation keep the same promises as the engine's: the same suites.
      project('simulation', ['tests/simulation/**/*.test.ts', 'tests/conformance/{[!s]*,s[!w]*}.test.ts'], {
        seconds: 60,
        provide: { tableEngine: 'memory' },
      }),
      project('escape', ['tests/escape/**/*.test.ts'], { seconds: 120, globalSetup: ['tests/setup.ts'] }),
      project('mcp', ['tests/mcp-conformance/**/*.test.ts'], {
        seconds: 120,
        globalSetup: ['tests/setup.ts'],
      }),
      project('policies', ['tests/policies/**/*.test.ts'], {
        seconds: 120,
        globalSetup: ['tests/setup.ts'],
      }),
      project('browser', ['tests/browser/**/*.test.ts'], {
        seconds: 120,
        globalSetup: ['tests/setup.ts', 'tests/browser/setup.ts'],
      }),
      project('e2e', ['tests/e2e/**/*.test.ts'], { seconds: 180, globalSetup: ['tests/setup.ts'] }),
    ],
  },
});
