/**
 * Proves, on implementations that come from elsewhere, what the embedded cloud alone cannot: `npm run verify:aws [-- <proof> …]`.
 *
 * Each is installed once, of a fixed version, by its own package manager into ~/.cache/sallyport/verify-aws; `npm test` needs none of it.
 * The exit code is 1 if a proof fails, and 2 if none fails but one could not be made, whose reason is printed.
 */
import { stacksByMoto } from './cloudformation.ts';
import { storesOnDynamoDbLocal } from './dynamodb-local.ts';
import { NotInstalled } from './installed.ts';
import { functionsUnderEmulator } from './lambda.ts';
import { openApiByRequests } from './openapi.ts';
import { policiesByReference } from './policies.ts';
import type { Proof } from './proof.ts';
import { adaptersOnMoto } from './services.ts';
import { lintedTemplates } from './templates.ts';

const proofs: readonly Proof[] = [
  lintedTemplates,
  policiesByReference,
  stacksByMoto,
  adaptersOnMoto,
  functionsUnderEmulator,
  storesOnDynamoDbLocal,
  openApiByRequests,
];

type Result = 'proved' | 'failed' | 'not proved';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const resultOf = async ({ name, about, prove }: Proof): Promise<Result> => {
  say(`\n${name}: ${about}`);
  try {
    const faults = await prove((line) => say(`  ${line}`));
    for (const fault of faults) say(`  Fault: ${fault}`);
    return faults.length === 0 ? 'proved' : 'failed';
  } catch (error) {
    if (!(error instanceof NotInstalled)) throw error;
    say(`  Cannot be installed: ${error.message}`);
    return 'not proved';
  }
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => proofs.every((proof) => proof.name !== name));
if (unknown.length > 0)
  throw new Error(`there is no proof ${unknown.join(', ')}: ${proofs.map(({ name }) => name).join(', ')}`);

const results: Record<string, Result> = {};
for (const proof of proofs)
  results[proof.name] =
    wanted.length === 0 || wanted.includes(proof.name) ? await resultOf(proof) : 'not proved';
say('');
for (const [name, result] of Object.entries(results)) say(`${name}: ${result}`);
const has = (result: Result): boolean => Object.values(results).includes(result);
process.exitCode = has('failed') ? 1 : has('not proved') ? 2 : 0;
