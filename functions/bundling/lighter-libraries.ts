/**
 * Library code that a bundle has in a smaller form, with the same behaviour for what the functions use of it.
 *
 * The bundler drops what is not used, if it can see that its evaluation has no effect. In the SDK's descriptions of a service it
 * cannot: they are written below, so that operations without a caller are left out.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Plugin, transform } from 'esbuild';

const noCredentials = fileURLToPath(new URL('./no-credentials.ts', import.meta.url));

/** Packages that the SDK asks for credentials when a function's variables have none. */
export const credentialsElsewhere = Object.fromEntries(
  [
    ...['http', 'ini', 'login', 'process', 'sso', 'web-identity'].map(
      (name) => `@aws-sdk/credential-provider-${name}`,
    ),
    '@smithy/credential-provider-imds',
  ].map((name) => [name, noCredentials]),
);

/** The SDK asks for endpoints with it, if that is turned on. */
export const smallerCache = {
  'mnemonist/lru-cache': fileURLToPath(new URL('./lru-cache.ts', import.meta.url)),
};

/**
 * Errors of which more is asked than name, message and status, which the base class has: reasons, an item, that it is tried again.
 */
const typedErrors: Readonly<Record<string, readonly string[]>> = {
  'client-dynamodb': [
    'ConditionalCheckFailedException',
    'ReplicatedWriteConflictException',
    'TransactionCanceledException',
  ],
  'client-lambda': [],
};

const descriptions = /[\\/]@aws-sdk[\\/](client-[\w-]+)[\\/]dist-es[\\/]schemas[\\/]schemas_0\.js$/;

/** A computed key, such as `{ [_h]: … }`, becomes the text that it names, and errors without a reader are not registered. */
export const lighterDescription = (text: string, service: string): string => {
  const constants = new Map(
    Array.from(text.matchAll(/^const (\w+) = ("[^"\\]*");$/gm), ([, name, value]) => [name, value]),
  );
  const plain = text.replaceAll(
    /\[(\w+)\]: /g,
    (computed, name: string) => `${constants.get(name) ?? computed.slice(0, -2)}: `,
  );
  const kept = typedErrors[service];
  if (kept === undefined) return plain;
  return plain.replaceAll(/^n0_registry\.registerError\(\w+\$, (\w+)\);$/gm, (registered, name: string) =>
    kept.includes(name) ? registered : '',
  );
};

/**
 * Files whose classes keep their names, which these libraries read: errors that are named for their class, and the
 * client that is named in a request. All other names are shortened.
 */
const namedClasses = [
  '@google/genai/dist/node/index.mjs',
  '@modelcontextprotocol/client/dist/public-*.mjs',
  '@smithy/core/dist-es/submodules/client/smithy-client/NoOpLogger.js',
  'jose/dist/webapi/util/errors.js',
  'node-fetch/src/errors/abort-error.js',
  'node-fetch/src/errors/base.js',
  'node-fetch/src/errors/fetch-error.js',
  'node-fetch/src/headers.js',
  'oauth4webapi/build/index.js',
  'openai/client.mjs',
  'openid-client/build/index.js',
];

const patternOf = (path: string): string =>
  path.replaceAll('.', '\\.').replaceAll('/', '[\\\\/]').replaceAll('*', '[\\w-]+');

/** Paths of files that keep the names of their classes. */
export const named = new RegExp(
  `(?:^|[\\\\/])node_modules[\\\\/](?:${namedClasses.map(patternOf).join('|')})$`,
);

/** Of a service's package the SDK reads the version, for the head of a request. */
const packageFile = /[\\/]@aws-sdk[\\/]client-[\w-]+[\\/]package\.json$/;

/**
 * Bedrock's client alone speaks HTTP/2, and is loaded when it is used. All clients import the list of this package's handlers:
 * with both in it, each start of a function that has Bedrock would load Node's HTTP/2.
 */
export const withHttp1 = (listOfHandlers: string): string =>
  listOfHandlers.replace('export { NodeHttp2Handler } from "./node-http2-handler";', '');

export const withOwnHttp2 = (settingsOfBedrock: string): string =>
  settingsOfBedrock.replace(
    'import { NodeHttp2Handler as RequestHandler, streamCollector } from "@smithy/node-http-handler";',
    'import { streamCollector } from "@smithy/node-http-handler"; import { NodeHttp2Handler as RequestHandler } from "@smithy/node-http-handler/dist-es/node-http2-handler.js";',
  );

/**
 * Each class of schema carries the code of its JSON schema, and each schema two methods that ask for it. `z.toJSONSchema` has the
 * same code in a list, and asks that where a schema has none: so a function has it only if it describes a schema.
 */
export const withoutOwnDescriptions = (classesOfSchemas: string): string =>
  classesOfSchemas
    .replaceAll(/^ *inst\._zod\.processJSONSchema = .*;$/gm, '')
    .replace(/^ *jsonSchema: \{\n(?:.*createStandardJSONSchemaMethod\(.*\n){2} *\},$/m, '')
    .replace(/^ *toJSONSchema\(params\) \{\n.*createToJSONSchemaMethod\(.*\n *\},$/m, '');

const rewritten: readonly { readonly filter: RegExp; readonly lighter: (text: string) => string }[] = [
  { filter: /[\\/]@smithy[\\/]node-http-handler[\\/]dist-es[\\/]index\.js$/, lighter: withHttp1 },
  { filter: /[\\/]client-bedrock-runtime[\\/]dist-es[\\/]runtimeConfig\.js$/, lighter: withOwnHttp2 },
  { filter: /[\\/]zod[\\/]v4[\\/]classic[\\/]schemas\.js$/, lighter: withoutOwnDescriptions },
];

export const lighterLibraries: Plugin = {
  name: 'lighter-libraries',
  setup: ({ onLoad }) => {
    for (const { filter, lighter } of rewritten)
      onLoad({ filter }, async ({ path }) => ({
        contents: lighter(await readFile(path, 'utf8')),
        loader: 'js',
      }));
    onLoad({ filter: descriptions }, async ({ path }) => {
      const service = descriptions.exec(path)?.[1] ?? '';
      return { contents: lighterDescription(await readFile(path, 'utf8'), service), loader: 'js' };
    });
    onLoad({ filter: packageFile }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8')) as { readonly version: string };
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
    onLoad({ filter: named }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const { code } = await transform(text, {
        ...{ keepNames: true, target: 'node24' },
        ...{ sourcemap: 'inline', sourcefile: path, sourcesContent: false },
      });
      return { contents: code, loader: 'js' };
    });
  },
};
