/**
 * Stores on Amazon's DynamoDB Local: first their conformance suites on it alone, then each of their requests on it and on the embedded
 * engine, one after the other, with every difference printed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRepository } from '../../infra/constructs/repository-path.ts';
import { openDynoxide, openOther, type TableAnswer, type Upstream } from '../../local/dynamodb/start.ts';
import { listen } from '../../local/endpoint/listen.ts';
import { mavenArtifact, versionOf } from './installed.ts';
import { type Server, serve } from './programs.ts';
import type { Proof } from './proof.ts';
import { runSuite, type SuiteReport } from './suite.ts';
import { type Difference, differencesOf, judgementOf } from './table-differences.ts';

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

type TwinTable = AsyncDisposable & {
  readonly url: string;
  readonly asked: () => number;
  readonly differences: () => readonly Difference[];
};

/** Requests of a test about items; those that describe a table differ in their nature. */
const compared = /[.](?:(?:Batch)?GetItem|(?:Put|Update|Delete|BatchWrite|Transact\w+)Items?|Query|Scan)$/;

/**
 * Asks two engines and says where they differ: the embedded one, whose answer the caller gets, and another. Requests run one after
 * the other, so that both meet them in the same order. Each access key has tables of its own, as in DynamoDB Local.
 */
const openTwinTable = async (otherUrl: string): Promise<TwinTable> => {
  const opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-twin-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const engines = new Map<string, Promise<Upstream>>();
  const turns = new Map<string, Promise<unknown>>();
  const differences: Difference[] = [];
  let asked = 0;

  const both = async (key: string, request: Parameters<Upstream>[0]): Promise<TableAnswer> => {
    const engine = await (engines.get(key) ?? open(key));
    const other = openOther({ url: otherUrl, credentials: { accessKeyId: key, secretAccessKey: 'local' } });
    const answer = await engine(request);
    const otherAnswer = await other(request);
    const operation = String(request.headers['x-amz-target']);
    if (!compared.test(operation)) return answer;
    asked += 1;
    differences.push(...differencesOf({ operation, request: request.body, answer, other: otherAnswer }));
    return answer;
  };
  const open = (key: string): Promise<Upstream> => {
    const engine = openDynoxide(join(folder, key), opened);
    engines.set(key, engine);
    return engine;
  };

  const { url, stop } = await listen(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { method = 'POST', url: target = '/', headers } = request;
    const key = accessKeyOf(headers);
    const answered = (turns.get(key) ?? Promise.resolve()).then(() =>
      both(key, { method, target, headers, body }),
    );
    turns.set(
      key,
      answered.catch(() => undefined),
    );
    const { status, body: text } = await answered;
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(text);
  });
  opened.defer(stop);
  return {
    url,
    asked: () => asked,
    differences: () => differences,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
};

const accessKeyOf = ({ authorization = '' }: IncomingHttpHeaders): string =>
  /Credential=(\w+)/.exec(authorization)?.[1] ?? 'unsigned';
