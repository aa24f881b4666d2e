/** Who may import whom. Every rule carries the reason it exists; ARCHITECTURE.md says it in words. */
export const forbid = (name, comment, { from, to }) => ({ name, comment, severity: 'error', from, to });
export const test = '[.]test[.]tsx?$';
const source = (folder) => ({ path: `^${folder}/`, pathNot: test });
const zod = '(^|/)node_modules/zod/';
const cloud = '(^|/)node_modules/(@aws-sdk|aws-cdk-lib)/';
const values = { dependencyTypesNot: ['type-only'] };

export const options = {
  doNotFollow: { path: 'node_modules' },
  exclude: { path: '(^|/)(dist|cdk[.]out|coverage)/|^tests/.*/fixtures/' },
  // The TypeScript 7 compiler has no API: without the TypeScript 6 alias zero modules are read and every rule passes.
  tsPreCompilationDeps: true,
  tsConfig: { fileName: 'tsconfig.json' },
  enhancedResolveOptions: {
    exportsFields: ['exports'],
    conditionNames: ['import', 'require', 'node', 'default', 'types'],
    mainFields: ['module', 'main', 'types'],
  },
};

export default {
  forbidden: [
    forbid('no-cycle', 'Two modules that need each other are one module, or hide a third.', {
      from: {},
      to: { circular: true },
    }),
    forbid('no-unresolved', 'An import that resolves to nothing is a deploy-time crash.', {
      from: {},
      to: { couldNotResolve: true },
    }),
    forbid('no-test-in-production', 'Test helpers never ship, and nor does a bench or a soak.', {
      from: {
        path: '^(infra|functions|shared|sdk|sandbox-task|web|local|cli|operations)/',
        pathNot: [test, '^operations/(bench|soak)/'],
      },
      to: { path: `^tests/|${test}` },
    }),
    forbid('shared-knows-no-caller', 'shared/ is the bottom of the graph.', {
      from: source('shared'),
      to: { path: '^(infra|functions|sdk|sandbox-task|web|local|cli|operations|tests)/' },
    }),
    forbid('domain-is-pure', 'The core decides; it never does. No node:, no npm, no sibling layer.', {
      from: source('shared/domain'),
      to: { pathNot: '^shared/domain/' },
    }),
    forbid('contracts-know-only-domain', 'A wire shape may name the domain and the schema library.', {
      from: source('shared/contracts'),
      to: { pathNot: ['^shared/(contracts|domain)/', zod] },
    }),
    forbid('ports-are-types', 'A port is an interface. If it imports a value it has become an adapter.', {
      from: source('shared/ports'),
      to: values,
    }),
    forbid('ports-look-down', 'A port speaks the words of the domain, not of one implementation.', {
      from: source('shared/ports'),
      to: { pathNot: '^shared/(ports/|domain/|contracts/|errors[.]ts)' },
    }),
    forbid(
      'application-uses-ports',
      'Use cases reach the world through ports, so that a simulator can stand in.',
      {
        from: source('shared/application'),
        to: { pathNot: '^shared/(application/|domain/|contracts/|ports/|errors[.]ts)' },
      },
    ),
    forbid(
      'adapters-do-not-orchestrate',
      'An adapter implements one port. Order and policy live in application/.',
      {
        from: source('shared/adapters'),
        to: { path: '^shared/application/' },
      },
    ),
    forbid(
      'adapters-are-told',
      'An adapter takes its settings as arguments; only an entry reads the environment.',
      {
        from: source('shared/adapters'),
        to: { path: '^shared/config/', ...values },
      },
    ),
    forbid(
      'config-stands-alone',
      'infra reads the environment contract at synth time; it must stay weightless.',
      {
        from: source('shared/config'),
        // Prices, templates and lists of hosts are checked by the code that uses them.
        to: { pathNot: ['^shared/config/', '^shared/domain/(price|template|egress-policy)[.]ts$', zod] },
      },
    ),
    forbid('one-function-per-folder', 'Functions share through shared/, never with each other.', {
      from: { path: '^functions/([^/]+)/' },
      to: { path: '^functions/', pathNot: '^functions/$1/' },
    }),
    forbid('functions-stand-alone', 'A Lambda bundle holds its own code and shared/.', {
      from: source('functions'),
      to: { path: '^(infra|sandbox-task|web|local)/' },
    }),
    forbid(
      'infra-names-handlers-by-path',
      'Synth never loads runtime code; of functions/ it needs the bundler, of shared/ the environment contract.',
      {
        from: source('infra'),
        to: { path: '^functions/(?!bundle[.]ts$)|^(sandbox-task|web|local)/|^shared/(?!config/)' },
      },
    ),
    forbid('sandbox-carries-no-control-plane', 'The image runs beside untrusted code.', {
      from: source('sandbox-task'),
      to: { path: `^(infra|functions|web|local)/|^shared/(application|adapters)/|${cloud}` },
    }),
    forbid('web-sees-contracts', 'The browser sees wire shapes and domain types, never the server.', {
      from: source('web'),
      to: {
        path: `^(infra|functions|sandbox-task|local)/|^shared/(application|adapters|ports|config)/|${cloud}`,
      },
    }),
    forbid(
      'cli-is-a-client',
      'It runs on a person’s machine and knows what crosses the wire, nothing behind it.',
      {
        from: source('cli'),
        to: {
          path: `^(infra|functions|sandbox-task|web|local|operations)/|^shared/(application|adapters|ports|config)/|${cloud}`,
        },
      },
    ),
    forbid('operations-read-templates', 'A deploy and its bill need the templates, never runtime code.', {
      from: source('operations/(backup|cost|deploy)'),
      to: { path: '^(functions|sandbox-task|web|local)/|^shared/(?!config/)' },
    }),
    forbid(
      'nothing-needs-operations',
      'The programs of an operator are on top: the platform runs without them.',
      {
        from: { path: '^(infra|functions|sdk|sandbox-task|web|local)/' },
        to: { path: '^operations/' },
      },
    ),
    forbid(
      'sdk-sees-contracts',
      'It runs wherever its users do: no node:, no package but zod, and nothing behind the wire.',
      {
        from: source('sdk'),
        to: { pathNot: ['^sdk/', '^shared/(contracts/|domain/|errors[.]ts)', zod] },
      },
    ),
    forbid(
      'platform-is-no-client',
      'The client is for callers outside; inside, only the synthetic check is one.',
      {
        from: { path: '^(infra|functions|sandbox-task|local)/', pathNot: [test, '^functions/synthetic/'] },
        to: { path: '^sdk/' },
      },
    ),
    forbid('local-is-not-deployed', 'The embedded cloud replaces AWS; it does not deploy it.', {
      from: source('local'),
      to: { path: '^infra/|(^|/)node_modules/aws-cdk-lib/' },
    }),
  ],
  options,
};
