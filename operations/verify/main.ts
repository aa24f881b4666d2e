/**
 * Proves, on implementations that come from elsewhere, what the embedded cloud alone cannot: `npm run verify:aws [-- <proof> …]`.
 *
 * Each is installed once, of a fixed version, by its own package manager into ~/.cache/sallyport/verify-aws; `npm test` needs none of it.
 * The exit code is 1 if a proof fails, and 2 if none fails but one could not be made, whose reason is printed.
 */
import { inspect } from 'node:util';
import { provideSystemPrograms } from '../../local/system-programs.ts';
import { stacksByMoto } from './cloudformation.ts';
import { storesOnDynamoDbLocal } from './dynamodb-local.ts';
import { NotInstalled } from './installed.ts';
import { functionsUnderEmulator } from './lambda.ts';
import { openApiByRequests } from './openapi.ts';
import { policiesByReference } from './policies.ts';
import { type Proof, planOf } from './proof.ts';
import { adaptersOnMoto } from './services.ts';
import { endToEndInStrictMode } from './strict.ts';
import { exitCodeOf, type Row, summaryOf } from './summary.ts';
import { lintedTemplates } from './templates.ts';

const proofs: readonly Proof[] = [
  lintedTemplates,
  policiesByReference,
  stacksByMoto,
  adaptersOnMoto,
  functionsUnderEmulator,
  storesOnDynamoDbLocal,
  openApiByRequests,
  endToEndInStrictMode,
];

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const unmade = { version: '', seconds: 0, faults: 0, differences: [] } as const;

const rowOf = async ({ name, about, prove }: Proof): Promise<Row> => {
  const startedAt = performance.now();
  const seconds = (): number => (performance.now() - startedAt) / 1000;
  say(`\n${name}: ${about}`);
  try {
    const {
      version,
      faults,
      differences = [],
    } = await prove((line) => say(`${String(Math.round(seconds())).padStart(5)} s  ${line}`));
    for (const fault of faults) say(`  Fault: ${fault}`);
    const result = faults.length === 0 ? 'proved' : 'failed';
    return { name, result, version, seconds: seconds(), faults: faults.length, differences };
  } catch (error) {
    if (error instanceof NotInstalled) {
      say(`  Cannot be installed: ${error.message}`);
      return { ...unmade, name, result: 'cannot be installed', seconds: seconds() };
    }
    say(`  Fault: the proof itself failed: ${inspect(error)}`);
    return { ...unmade, name, result: 'failed', seconds: seconds(), faults: 1 };
  }
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => proofs.every((proof) => proof.name !== name));
if (unknown.length > 0)
  throw new Error(`there is no proof ${unknown.join(', ')}: ${proofs.map(({ name }) => name).join(', ')}`);

// biome-ignore lint/style/noProcessEnv: this is a program of its own, and this is its one read
await provideSystemPrograms(process.env, say);

const rows: Row[] = [];
for (const { proof, isMade } of planOf(proofs, wanted))
  rows.push(isMade ? await rowOf(proof) : { ...unmade, name: proof.name, result: 'left out' });
say(`\n${summaryOf(rows)}`);
process.exitCode = exitCodeOf(rows);
