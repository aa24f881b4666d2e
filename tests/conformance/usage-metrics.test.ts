/** The history of the operator's view against a real DynamoDB engine: added up in place, by scope, within a range. */
import { expect, test } from 'vitest';
import { makeMetricsStore } from '#shared/adapters/aws/dynamo/usage-metrics.ts';
import { readUsageMetrics } from '#shared/application/metrics/read-usage-metrics.ts';
import type { ProjectId } from '#shared/domain/ids.ts';
import { deploymentOwner, type Principal, projectPrincipal } from '#shared/domain/principal.ts';
import type { UsageMeasurement } from '#shared/domain/usage-metrics.ts';
import { openFileTable } from './table-fixture.ts';

const minute = 60_000;
const now = 1_800_000_000_000;
const project = '11111111-1111-4111-8111-111111111111' as ProjectId;

const fixture = openFileTable();

const store = () => makeMetricsStore(fixture.table);

test('concurrent additions are all counted, in the deployment and in the named project', async () => {
  const note = { project, add: 'cold|40' };
  await Promise.all(Array.from({ length: 20 }, () => store().add([note, { add: 'failed' }, note], now)));
  await store().add([{ set: 'sandboxes', to: 3 }], now);
  await store().add([{ set: 'sandboxes', to: 2 }], now + 1);
  await store().add([{ add: 'failed' }], now + 10 * minute);
  const read = (scope: 'deployment' | ProjectId) => store().read(scope, { from: now, to: now + minute });
  expect(await read('deployment')).toEqual([
    { at: now, counts: { 'cold|40': 40, failed: 20, sandboxes: 2 } },
  ]);
  expect(await read(project)).toEqual([{ at: now, counts: { 'cold|40': 40 } }]);
});

test('a scope of the deployment sees all metrics, one of a project its project, a person none', async () => {
  const ports = {
    metrics: store(),
    world: { now: () => now + 2 * minute, uuid: () => '', sha256: () => '', sleep: async () => {} },
  };
  const ask = async (principal: Principal) => {
    const { scope, summary } = await readUsageMetrics(ports, principal, 60);
    return { scope, starts: summary.cold.count, failed: summary.startsFailed };
  };
  const admin: Principal = { owner: deploymentOwner, scope: 'admin:ro', tokenHash: '' };
  expect(await ask(admin)).toEqual({ scope: 'deployment', starts: 40, failed: 20 });
  expect(await ask(projectPrincipal(project))).toEqual({ scope: project, starts: 40, failed: 0 });
  await expect(ask({ ...projectPrincipal(project), isPerson: true })).rejects.toMatchObject({
    code: 'forbidden',
  });
});

test('a point has all measurements, however many attributes they are', async () => {
  const names = Array.from({ length: 1000 }, (_, index) => `active-holder-${index}` as const);
  const at = now + 60 * minute;
  await store().add(
    names.map((set, index) => ({ set, to: index }) as UsageMeasurement),
    at,
  );
  const [point] = await store().read('deployment', { from: at, to: at + minute });
  expect(point?.counts).toEqual(Object.fromEntries(names.map((name, index) => [name, index])));
});
