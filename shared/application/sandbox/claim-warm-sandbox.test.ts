/** A first caller and a warm sandbox: what it costs to have it, in requests and in waits. */
import { expect, test } from 'vitest';
import { newSession, workspaceOf } from '../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../tests/simulation/quiet-ports.ts';
import { poolEntryId } from '../../domain/pool.ts';
import type { SandboxLink } from '../../ports/sandbox.ts';
import { fillPool } from '../janitor/fill-pool.ts';
import { acquireSandbox } from './acquire-sandbox.ts';
import { readySandbox } from './make-sandbox-ready.ts';
import { startedFor } from './sandbox-request.ts';

const flavors = { execution: 'micro', agent: 'micro' } as const;

/** A pool with one warm sandbox, whose server has the entry's bearer until it is given another. */
const open = async (template: string) => {
  const quiet = openQuietPorts();
  const asked: string[] = [];
  let isClaimed = false;
  const link: SandboxLink = {
    fetch: async ({ workspaceId }, { method, path }) => {
      asked.push(`${method} ${path}`);
      const isOfPool = template === 'python';
      if (isOfPool && (workspaceId === poolEntryId(0)) === isClaimed)
        return new Response(null, { status: 401 });
      isClaimed ||= path === '/claim';
      return new Response(null, { status: path === '/claim' ? 204 : 200 });
    },
  };
  const ports = { ...quiet.ports, link, poolSize: 1 };
  await fillPool(ports, { size: 1, flavors, template: 'python' });
  await ports.workspaces.markReady(poolEntryId(0), 1, { at: 1 });
  const session = newSession({ template, flavor: 'micro' });
  await ports.sessions.create(session, { workspace: workspaceOf(session) });
  quiet.takeRequests();
  const { sandbox, start } = await acquireSandbox(ports, startedFor(session));
  return { ...quiet, ports, sandbox, start, asked, requests: quiet.takeRequests(), session };
};

test('a warm sandbox is claimed with one request to it, without a wait', async () => {
  const { start, asked, clock, requests, invoked } = await open('python');
  expect(start).toMatchObject({ source: 'pool', generation: 1 });
  expect(asked).toEqual(['POST /claim']);
  expect(clock.now).toBe(1_000_000);
  expect(requests.toSorted()).toEqual([
    ...['BatchGet', 'Get', 'Get', 'Get', 'Get', 'Put', 'TransactWrite', 'Update'],
  ]);
  expect(invoked.filter((what) => what === 'pool')).toEqual(['pool']);
});

test('a caller after one that died once it had claimed it finds it open', async () => {
  const { ports, sandbox, asked, session } = await open('python');
  const workspace = await ports.workspaces.get(session.workspace);
  if (workspace?.sandbox === undefined) throw new Error('it has no sandbox');
  const unready = { ...workspace, sandbox: { ...workspace.sandbox, state: 'starting' as const } };
  await readySandbox(ports, unready, sandbox);
  expect(asked).toEqual(['POST /claim', 'POST /claim', 'GET /health']);
});

test('a session of another template leaves it', async () => {
  const { start, invoked } = await open('node');
  expect(start).toMatchObject({ source: 'cold' });
  expect(invoked).not.toContain('pool');
});
