import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { RepeatedTests } from './tests/repeated-tests.ts';
import { temporaryFolder } from './tests/temporary-folder.ts';

type Options = {
  readonly seconds: number;
  readonly globalSetup?: string[];
  readonly setupFiles?: string[];
  readonly exclude?: string[];
  /** `list`: what a setup file does after each test comes before what the test's file does. */
  readonly hooks?: 'stack' | 'list';
  readonly provide?: { readonly tableEngine?: 'memory'; readonly tableUrl?: string };
};

const env = {
  POWERTOOLS_LOG_LEVEL: 'SILENT',
  POWERTOOLS_METRICS_DISABLED: 'true',
  TMPDIR: temporaryFolder,
  NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.compile-cache'),
};
/** `CONFORMANCE_TABLE_URL`: another DynamoDB for the conformance suites. */
// biome-ignore lint/style/noProcessEnv: a configuration of its own, and this is its one read
const { CONFORMANCE_TABLE_URL: tableUrl, SALLYPORT_STRICT: strict } = process.env;

/**
 * Of a worker and of the functions in it: a cloud makes much that is soon forgotten, and threads that collect it beside the
 * others cost more than they save where all cores are busy. A seventh of the CPU time of a request. In the strict mode each
 * environment is a thread of the worker, and two hundred with so large a space have no room in 24 GB.
 */
const semiSpace = strict === 'true' ? [] : ['--min-semi-space-size=32', '--max-semi-space-size=32'];
const execArgv = [...semiSpace, '--single-threaded-gc'];

const project = (
  name: string,
  include: string[],
  { seconds, globalSetup = [], setupFiles = [], exclude = [], hooks = 'stack', provide }: Options,
) => ({
  test: {
    name,
    include,
    env,
    globalSetup,
    setupFiles,
    // Half of the CPU time of a small file is the loading of its modules: the files of one worker share them.
    isolate: false,
    sequence: { hooks },
    execArgv,
    ...(provide === undefined ? {} : { provide }),
    testTimeout: seconds * 1000,
    hookTimeout: seconds * 1000,
    expect: { poll: { timeout: 50_000 } },
    exclude: ['**/fixtures/**', '**/node_modules/**', ...exclude],
  },
});

/** Files that take longest: without the durations of an earlier run those that are small would begin last. */
const longest =
  /[/](fuzz|pool|schedule-restart|kill|ecs-faults|cli-approvals|lifecycle|sandbox|restart|children-kill|schedules|crowd|local-network|whole-call|chat|typed-text)[.]test[.]ts$/;

/** Within a project: a worker ends when the next file is of another, and what it has loaded and started with it, a browser for example. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isFirst = ({ moduleId }: TestSpecification): boolean => longest.test(moduleId);
    return sorted.toSorted(
      (one, other) =>
        Number(one.project.name !== 'e2e') - Number(other.project.name !== 'e2e') ||
        one.project.name.localeCompare(other.project.name) ||
        Number(isFirst(other)) - Number(isFirst(one)),
    );
  }
}

/** Tests beside files that start what those are about: endpoints, engines, sandboxes, clouds. */
const parts = ['local/**/*.test.ts', 'sandbox-task/**/*.test.ts', 'functions/sandbox-link/**/*.test.ts'];

/** One project per kind of proof (CONTRIBUTING.md, "Tests"); the timeouts are ceilings for a hung test, not measurements. */
export default defineConfig({
  test: {
    // Tests wait for a sandbox, a page or a deadline more than half of their time.
    maxWorkers: availableParallelism() + 2,
    reporters: ['default', new RepeatedTests()],
    sequence: { sequencer: LongestFirst },
    projects: [
      project(
        'unit',
        ['shared/**/*.test.ts', 'functions/**/*.test.ts', 'cli/**/*.test.ts', 'sdk/**/*.test.ts'],
        {
          seconds: 60,
          exclude: parts,
        },
      ),
      { plugins: [vue()], ...project('web', ['web/**/*.test.ts'], { seconds: 60 }) },
      project('parts', parts, { seconds: 180, globalSetup: ['tests/setup.ts'] }),
      project('synth', ['{infra,operations}/**/*.test.ts'], { seconds: 240 }),
      project('tidy', ['tests/tidy/**/*.test.ts'], { seconds: 240 }),
      project('sdk', ['tests/sdk/**/*.test.ts'], { seconds: 240, globalSetup: ['tests/setup.ts'] }),
      project('conformance', ['tests/conformance/**/*.test.ts'], {
        seconds: 120,
        globalSetup: ['tests/setup.ts'],
        ...(tableUrl === undefined ? {} : { provide: { tableUrl } }),
      }),
      // The stores of the simulation keep the same promises as the engine's: the same suites.
      project('simulation', ['tests/simulation/**/*.test.ts', 'tests/conformance/{[!s]*,s[!w]*}.test.ts'], {
        seconds: 120,
        provide: { tableEngine: 'memory' },
      }),
      project('escape', ['tests/escape/**/*.test.ts'], { seconds: 240, globalSetup: ['tests/setup.ts'] }),
      project('mcp', ['tests/mcp-conformance/**/*.test.ts'], {
        seconds: 240,
        globalSetup: ['tests/setup.ts'],
      }),
      project('policies', ['tests/policies/**/*.test.ts'], {
        seconds: 240,
        globalSetup: ['tests/setup.ts'],
      }),
      project('browser', ['tests/browser/**/*.test.ts'], {
        seconds: 300,
        globalSetup: ['tests/setup.ts', 'tests/browser/setup.ts'],
        setupFiles: ['tests/browser/each-test.ts'],
        hooks: 'list',
      }),
      project('e2e', ['tests/e2e/**/*.test.ts'], { seconds: 360, globalSetup: ['tests/setup.ts'] }),
    ],
  },
});
