import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ProjectId } from '../ids.ts';
import { type NamedTools, nameTools } from './naming.ts';
import type { McpServer } from './server.ts';
import { namespacings } from './server.ts';

/** Few letters and long runs of them: names meet. */
const letters = (pool: string, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...pool), minLength: 1, maxLength });
const name = letters('ab_2', 5);
const toolName = fc.oneof(letters('ab_2-.é', 6), letters('a', 70), fc.constantFrom('read_file', 'a_b'));
const health = fc.constantFrom(
  { status: 'healthy', consecutiveFailures: 0, attempts: 0 } as const,
  { status: 'unhealthy', consecutiveFailures: 2, attempts: 0 } as const,
  { status: 'reconnecting', consecutiveFailures: 3, attempts: 1 } as const,
  { status: 'disconnected', consecutiveFailures: 8, attempts: 5 } as const,
);
const server: fc.Arbitrary<McpServer> = fc
  .record({
    name,
    prefix: fc.option(name, { nil: undefined }),
    tools: fc.option(fc.uniqueArray(toolName, { maxLength: 6 }), { nil: undefined }),
    isEnabled: fc.boolean(),
    health,
  })
  .map(({ prefix, tools, ...rest }) => ({
    project: 'p' as ProjectId,
    ...rest,
    config: { transport: 'http', url: 'https://a', ...(prefix === undefined ? {} : { toolPrefix: prefix }) },
    ...(tools === undefined ? {} : { tools: tools.map((tool) => ({ name: tool, inputSchema: {} })) }),
    createdAt: 0,
    version: 0,
  }));
const servers = fc.uniqueArray(server, { selector: (one) => one.name, maxLength: 5 });
const requestedName = fc.record({
  servers,
  builtIn: fc.uniqueArray(fc.constantFrom('read_file', 'a', 'a_b', 'a_2'), { maxLength: 4 }),
  namespacing: fc.constantFrom(...namespacings),
});
const shown = ({ tools, routes, unavailable }: NamedTools) => ({ tools, routes: [...routes], unavailable });

test('N1: no two offered names are equal, none is a built-in tool’s, and every provider takes them', () => {
  fc.assert(
    fc.property(requestedName, (given) => {
      const names = nameTools(given).tools.map((tool) => tool.name);
      expect(new Set([...names, ...given.builtIn]).size).toBe(names.length + given.builtIn.length);
      for (const one of names) expect(one).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    }),
    { numRuns: 500 },
  );
});

test('N2: every tool of every healthy server has exactly one name, which leads to it', () => {
  fc.assert(
    fc.property(requestedName, (given) => {
      const { tools, routes } = nameTools(given);
      expect([...routes.keys()]).toEqual(tools.map((tool) => tool.name));
      const reached = [...routes.values()].map((route) => `${route.server} ${route.tool}`);
      const wanted = given.servers
        .filter((one) => one.isEnabled && one.health.consecutiveFailures < 3)
        .flatMap((one) => (one.tools ?? []).map((tool) => `${one.name} ${tool.name}`));
      expect(reached.sort()).toEqual(wanted.sort());
    }),
    { numRuns: 500 },
  );
});

test('N3: names depend neither on the order of registration nor on health', () => {
  const mixed = requestedName.chain((given) =>
    fc.record({
      given: fc.constant(given),
      other: fc.shuffledSubarray([...given.servers], { minLength: given.servers.length }),
    }),
  );
  fc.assert(
    fc.property(mixed, ({ given, other }) => {
      const reordered = other.map((one) => ({
        ...one,
        ...(one.tools && { tools: [...one.tools].reverse() }),
      }));
      expect(shown(nameTools({ ...given, servers: reordered }))).toEqual(shown(nameTools(given)));
      const well = given.servers.map((one) => ({
        ...one,
        health: { status: 'healthy', consecutiveFailures: 0, attempts: 0 } as const,
      }));
      const all = nameTools({ ...given, servers: well }).routes;
      for (const [one, route] of nameTools(given).routes) expect(all.get(one)).toEqual(route);
    }),
    { numRuns: 500 },
  );
});
