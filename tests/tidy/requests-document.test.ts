/** The requests that documents show against the API's own description: each route exists, and each field of a body. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type RepositoryFile, readRepository, repositoryFolder } from './repository.ts';

type Schema = {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
};
type Operation = {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
};
type Page = Pick<RepositoryFile, 'path' | 'text'>;

const { paths, components } = JSON.parse(
  readFileSync(join(repositoryFolder, 'functions/api/openapi.json'), 'utf8'),
) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
};

const fieldsOf = ({
  $ref,
  properties = {},
  anyOf = [],
  oneOf = [],
  allOf = [],
}: Schema): readonly string[] => [
  ...Object.keys(properties),
  ...[...anyOf, ...oneOf, ...allOf].flatMap(fieldsOf),
  ...($ref === undefined ? [] : fieldsOf(components?.schemas?.[$ref.split('/').at(-1) ?? ''] ?? {})),
];

const routes = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, { requestBody }]) => ({
    method: method.toUpperCase(),
    pattern: new RegExp(`^${path.replace('/{path}', '(?:/.*)?').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    fields: fieldsOf(requestBody?.content['application/json']?.schema ?? {}),
  })),
);

/** Without its query; what stands for an id is one step of it. */
const stepsOf = (path: string): string =>
  path
    .replace(/\?.*/, '')
    .replaceAll(/\$\{?\w+\}?|<[^>]*>|\{[^}]*\}|…/g, 'x')
    .replace(/\/$/, '');
const routeOf = (method: string, path: string) =>
  routes.find((route) => route.method === method && route.pattern.test(stepsOf(path)));

const namedRequest = /\b(GET|POST|PUT|PATCH|DELETE) (\/api\/[^\s`,;:)"']+)/g;

const namedComplaints = ({ path, text }: Page): readonly string[] =>
  Array.from(text.matchAll(namedRequest), ([, method = '', route = '']) => ({ method, route }))
    .filter(({ method, route }) => routeOf(method, route) === undefined)
    .map(({ method, route }) => `${path} names ${method} ${route}, which is no route`);

const block = /^```(?:sh|bash|console)\n(.*?)^```/gms;
/** A variable whose value is an address, for the lines below it. */
const assignment = /\b(\w+)="?([^"\s]*\/[^"\s]*)/g;
/** A body in single quotes, in which others may hold a variable: `'{"snapshot": "'$SNAPSHOT'"}'`. */
const body = / -d '((?:[^']|'\$\w+')*)'/;

/** The commands of a page that call `curl`, with the addresses that its variables stand for. */
const callsOf = (text: string): readonly string[] => {
  const addresses = new Map([['API', '/api']]);
  return Array.from(text.matchAll(block), ([, code = '']) => code.replaceAll('\\\n', ' ')).flatMap((code) =>
    code.split(/\n(?! )/).flatMap((line) => {
      for (const [, name = '', value = ''] of line.matchAll(assignment)) addresses.set(name, value);
      const filled = [1, 2, 3].reduce(
        (told) => told.replaceAll(/\$(\w+)/g, (word, name) => addresses.get(name) ?? word),
        line,
      );
      return filled.split(/ \| |\$\((?=curl)/).filter((command) => command.includes('curl -'));
    }),
  );
};

const callComplaints = ({ path, text }: Page): readonly string[] =>
  callsOf(text).flatMap((call) => {
    const [, address] = /["' :\w](\/api\/[^"'\s]+)/.exec(call) ?? [];
    if (address === undefined) return [];
    const [, sent] = body.exec(call) ?? [];
    const [, method = / -d | --data/.test(call) ? 'POST' : 'GET'] = /-X (\w+)/.exec(call) ?? [];
    const route = routeOf(method, address);
    if (route === undefined) return [`${path} calls ${method} ${stepsOf(address)}, which is no route`];
    const fields = sent === undefined ? [] : Object.keys(JSON.parse(sent.replaceAll(/'\$\w+'/g, 'x')));
    return fields
      .filter((field) => !route.fields.includes(field))
      .map((field) => `${path} sends ${field} to ${method} ${stepsOf(address)}, which has no such field`);
  });

const complaintsOf = (pages: readonly Page[]): readonly string[] =>
  pages.flatMap((page) => [...namedComplaints(page), ...callComplaints(page)]);

const pages = readRepository(repositoryFolder).filter(
  ({ path }) => path.endsWith('.md') && !path.startsWith('docs/adr/'),
);

test('every request that a document shows is a route, and has the fields of its body', () => {
  expect(pages.flatMap(({ text }) => callsOf(text)).length).toBeGreaterThan(30);
  expect(complaintsOf(pages)).toEqual([]);
});

test('a route and a field that do not exist are found', () => {
  const text = [
    '`POST /api/sessions/{id}/halt` and `GET /api/sessions/{id}`',
    '```sh',
    'api="$SALLYPORT_URL/api/sessions"',
    `curl -s "$api" -d '{"kind": "execution", "colour": "red"}'`,
    `curl -sH "$auth" "$api/$SESSION/restore" -d '{"snapshot": "'$SNAPSHOT'"}'`,
    'ticket=$(curl -s -X PUT "$SALLYPORT_URL/api/tickets" | jq -r .ticket)',
    '```',
  ].join('\n');
  expect(complaintsOf([{ path: 'page.md', text }])).toEqual([
    'page.md names POST /api/sessions/{id}/halt, which is no route',
    'page.md sends colour to POST /api/sessions, which has no such field',
    'page.md calls PUT /api/tickets, which is no route',
  ]);
});
