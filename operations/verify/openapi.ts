/**
 * Requests that schemathesis makes of the OpenAPI document, answered by the embedded cloud: none may be answered in a way that the
 * document does not say, or with 500.
 *
 * A session and the default project are given by their ids, so that requests get behind `not_found`.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRepository } from '../../infra/constructs/repository-path.ts';
import { pythonTool, versionOf } from './installed.ts';
import { run, type Server, serve } from './programs.ts';
import type { Proof } from './proof.ts';

const examplesMax = 10;

export const openApiByRequests: Proof = {
  name: 'openapi',
  about: 'the OpenAPI document, held by schemathesis against the embedded cloud',
  prove: async (say) => {
    const tool = `${await pythonTool({ name: 'schemathesis', version: '4.32.5' })}/schemathesis`;
    const version = await versionOf(tool);
    say(version);
    say('requests of all operations: some ten minutes');
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-openapi-'));
    try {
      await using cloud = await startCloud(join(folder, 'home'));
      const { failures, said } = await askAll({
        tool,
        folder,
        url: cloud.url,
        token: tokenOf(cloud.output()),
      });
      for (const line of said) say(line);
      const { faults, expected } = faultsOf(failures);
      for (const line of expected) say(`as documented elsewhere: ${line}`);
      return {
        version,
        faults,
        differences: expected.map((what) => ({ what, became: 'stays, and is documented' })),
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

const startCloud = (home: string): Promise<Server> =>
  serve({
    program: process.execPath,
    args: () => [inRepository('local/main.ts')],
    folder: inRepository('.'),
    ready: /#token=\S+/,
    variables: (port) => ({
      PORT: String(port),
      SALLYPORT_HOME: home,
      SALLYPORT_INSTALL_PACKAGES: 'false',
      LLM_PROVIDER: 'demo',
      RATE_LIMIT_PER_SECOND: '500',
      RATE_LIMIT_BURST: '20000',
    }),
  });

const tokenOf = (output: string): string => /#token=(\S+)/.exec(output)?.[1] ?? '';

type Asked = { readonly tool: string; readonly folder: string; readonly url: string; readonly token: string };

const askAll = async ({ tool, folder, url, token }: Asked) => {
  const headers = { authorization: `Bearer ${token}` };
  const made = await fetch(`${url}/api/sessions`, { method: 'POST', headers, body: '{}' });
  const { id, project } = (await made.json()) as { readonly id: string; readonly project: string };
  const settings = join(folder, 'schemathesis.toml');
  await writeFile(settings, [given('sessions', id), given('projects', project)].join('\n'));
  const report = join(folder, 'report.ndjson');
  const { code, out } = await run(
    tool,
    [
      ...['--config-file', settings, 'run', inRepository('functions/api/openapi.json'), '--url', url],
      ...['--header', `Authorization: Bearer ${token}`, '--report', 'ndjson', '--report-ndjson-path', report],
      ...['--phases', 'coverage,fuzzing', '--max-examples', String(examplesMax), '--seed', '1'],
      ...['--checks', checks.join(','), '--continue-on-failure', '--generation-database', 'none'],
      // It is answered as long as a client listens.
      ...['--exclude-path', '/api/sessions/{id}/watch', '--request-timeout', '60'],
    ],
    // It leaves a folder of its own where it is started.
    { folder },
  );
  const said = out.split('\n').filter((line) => /generated|selected/.test(line));
  const failures = failuresOf(await readFile(report, 'utf8'));
  // It ends with 1 when it found something, and with another code when it could not look.
  if (code > 1) throw new Error(`schemathesis ended with ${code}: ${out}`);
  return { said, failures };
};

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
];

const given = (kind: string, id: string): string =>
  `[[operations]]\ninclude-path-regex = '^/api/${kind}/\\{id\\}/'\nparameters = { "path.id" = "${id}" }\n`;

/** A failure in the events that schemathesis writes. */
type Failure = {
  readonly operation: string;
  /** The kind of the failure, as schemathesis names it. */
  readonly type: string;
  readonly status: number;
  readonly message: string;
  readonly request: string;
};

type Event = {
  readonly ScenarioFinished?: { readonly recorder: Recorder };
};
type Recorder = {
  readonly label: string;
  readonly checks: Readonly<Record<string, readonly Check[]>>;
  readonly interactions: Readonly<Record<string, Interaction>>;
};
type Check = {
  readonly failure_info?: { readonly failure: { readonly type: string; readonly message: string } } | null;
};
type Interaction = {
  readonly request: { readonly method: string; readonly uri: string };
  readonly response?: { readonly status_code: number } | null;
};

const failuresOf = (events: string): readonly Failure[] =>
  events
    .split('\n')
    .filter((line) => line.startsWith('{"ScenarioFinished"'))
    .flatMap((line) => {
      const recorder = (JSON.parse(line) as Event).ScenarioFinished?.recorder;
      return recorder === undefined ? [] : failuresIn(recorder);
    });

const failuresIn = ({ label, checks, interactions }: Recorder): readonly Failure[] =>
  Object.entries(checks).flatMap(([id, found]) =>
    found.flatMap(({ failure_info: info }) => {
      if (info === undefined || info === null) return [];
      const { request, response } = interactions[id] ?? {};
      return [
        {
          operation: label,
          ...{ type: info.failure.type, message: info.failure.message.replaceAll('\n', ', ') },
          status: response?.status_code ?? 0,
          request: `${request?.method} ${request?.uri}`.slice(0, 300),
        },
      ];
    }),
  );

/** Answers that no contract of an operation is about, or that it names among those of 500 and above. */
const expectedBecause = ({ type, status }: Failure): string | undefined => {
  if (type === 'ServerError' && (status === 502 || status === 503))
    return `${status}: the sandbox, or the server on its port, does not answer`;
  if (type === 'UndefinedStatusCode' && status === 431)
    return '431: the HTTP server refuses a request line and headers over 16 KB before any function sees it';
  return undefined;
};

const faultsOf = (failures: readonly Failure[]) => ({
  faults: failures
    .filter((failure) => expectedBecause(failure) === undefined)
    .map(
      ({ operation, type, status, message, request }) =>
        `${operation}: ${status}, ${type}: ${message}; ${request}`,
    ),
  expected: [...Map.groupBy(failures, expectedBecause)].flatMap(([reason, found]) =>
    reason === undefined ? [] : [`${found.length} × ${reason}`],
  ),
});
