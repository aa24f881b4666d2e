/** A reporter that names the tests which passed at a repetition only: each is a defect to be mended (CONTRIBUTING.md). */
import type { Reporter, TestModule } from 'vitest/node';

const failureCharactersMax = 500;

/** Lines of the tests that failed first and passed then, each with its first failure. */
const repeatedTests = (modules: readonly TestModule[]): readonly string[] =>
  modules.flatMap((module) =>
    [...module.children.allTests()]
      .filter((test) => test.diagnostic()?.flaky === true)
      .map((test) => {
        const [failure] = test.result().errors ?? [];
        return `${module.relativeModuleId} > ${test.fullName}: ${failure?.message.slice(0, failureCharactersMax)}`;
      }),
  );

export class RepeatedTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const repeated = repeatedTests(modules);
    if (repeated.length === 0) return;
    process.stdout.write(`\n Passed when repeated, failed before (${repeated.length}):\n`);
    for (const line of repeated) process.stdout.write(`   ${line}\n`);
  }
}
