/**
 * The end-to-end tests in the strict mode of the embedded cloud, one file after the other: cold environments that end, late and
 * doubled invocations, the limits of CloudFront. It is made when it is asked for: it takes as long as all of these tests.
 */
import { globSync } from 'node:fs';
import { inRepository } from '../../infra/constructs/repository.ts';
import type { Proof } from './proof.ts';
import { runSuite } from './suite.ts';

export const endToEndInStrictMode: Proof = {
  name: 'strict',
  about: 'the end-to-end tests in the strict mode of the embedded cloud',
  isOnRequest: true,
  prove: async (say) => {
    const files = globSync('tests/e2e/**/*.test.ts', { cwd: inRepository('.') }).sort();
    const faults: string[] = [];
    for (const file of files) {
      const suite = { project: 'e2e', files: [file], variables: { SALLYPORT_STRICT: 'true' } };
      const report = await runSuite(suite);
      say(`${file}: ${report.summary}`);
      faults.push(...report.faults.map((fault) => `${file}, ${fault}`));
    }
    return { version: `${files.length} files, Node ${process.version}`, faults };
  },
};
