/**
 * Stores on Amazon's DynamoDB Local: first their conformance suites on it alone, then each of their requests on it and on the embedded
 * engine, one after the other, with every difference printed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRepository } from '../../infra/constructs/repository.ts';
import { mavenArtifact, versionOf } from './installed.ts';
import { type Server, serve } from './programs.ts';
import type { Proof } from './proof.ts';
import { runSuite, type SuiteReport } from './suite.ts';
import { type Difference, judgementOf } from './table-differences.ts';
import { openTwinTable } from './twin-table.ts';

const artifactVersion = '3.3.1';

export const storesOnDynamoDbLocal: Proof = {
  name: 'dynamodb',
  about: 'the conformance suites of the stores, on Amazon’s DynamoDB Local',
  prove: async (say) => {
    const folder = await mavenArtifact({
      group: 'software.amazon.dynamodb',
      artifact: 'DynamoDBLocal',
      version: artifactVersion,
    });
    const version = `DynamoDB Local ${artifactVersion}, ${await versionOf('java')}`;
    say(version);
    await using local = await startLocal(folder);
    say('the suites on DynamoDB Local alone: a minute or two');
    const alone = await runSuites(local.url);
    say(`on DynamoDB Local: ${alone.summary}`);
    say('each request on both engines: some minutes');
    await using twin = await openTwinTable(local.url);
    // One request after the other: tests whose items expire may fail here, and their requests count all the same.
    await runSuites(twin.url);
    const found = Map.groupBy(twin.differences(), judgementOf);
    const unjudged = grouped(found.get(undefined) ?? []);
    say(`${twin.asked()} requests asked of both, ${unjudged.length} kinds of difference that are not judged`);
    return {
      version,
      faults: [...alone.faults, ...unjudged],
      differences: [...found].flatMap(([judgement, { length }]) => {
        if (judgement === undefined) return [];
        return [{ ...judgement, what: `${length} × ${judgement.what}` }];
      }),
    };
  },
};

const startLocal = (folder: string): Promise<Server> =>
  serve({
    program: 'java',
    args: (port) => [
      `-Djava.library.path=${folder}`,
      ...['-cp', join(folder, '*'), 'software.amazon.dynamodb.services.local.main.ServerRunner'],
      ...['-inMemory', '-disableTelemetry', '-port', String(port)],
    ],
  });

const suites = (): readonly string[] => {
  const folder = inRepository('tests/conformance');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts'))
    .filter((name) => readFileSync(join(folder, name), 'utf8').includes('table-fixture'))
    .map((name) => `tests/conformance/${name}`);
};

const runSuites = (tableUrl: string): Promise<SuiteReport> =>
  runSuite({ project: 'conformance', files: suites(), variables: { CONFORMANCE_TABLE_URL: tableUrl } });

/** A line for each kind: how often, and one example. */
const grouped = (differences: readonly Difference[]): readonly string[] =>
  [...Map.groupBy(differences, ({ operation, where }) => `${operation} ${where}`)].map(([kind, found]) => {
    const [{ ours, other, request } = { ours: '', other: '', request: '' }] = found;
    return `${found.length} × ${kind}: ${cut(ours)} here, ${cut(other)} there, for ${cut(request)}`;
  });

const cut = (text: string): string => (text.length > 500 ? `${text.slice(0, 500)}…` : text);
