/** Data of the screenshots: a project with sessions, created like users do, and a day of metrics for the charts. */
import { makeMetricsStore } from '#shared/adapters/aws/dynamo/usage-metrics.ts';
import { type UsageMeasurement, usagePointMs } from '#shared/domain/usage-metrics.ts';
import { makeSession } from '../../e2e/agent.ts';
import { type EmbeddedCloud, eventually } from '../../e2e/embedded-cloud.ts';

export type Scenes = { readonly waiting: string; readonly working: string };

const message = [
  'Add the report and run its tests.',
  'write report.py import csv',
  '$ python3 -m unittest -v',
].join('\n');

const files: Readonly<Record<string, string>> = {
  'README.md': '# Report\n\nSums what the orders of a day came to.\n',
  'report.py': [
    '"""Sums the orders of a day."""',
    'import csv',
    'from pathlib import Path',
    '',
    '',
    'def total(path: Path) -> float:',
    '    with path.open() as orders:',
    '        return sum(float(row["amount"]) for row in csv.DictReader(orders))',
    '',
    '',
    'if __name__ == "__main__":',
    '    print(total(Path("data/orders.csv")))',
    '',
  ].join('\n'),
  'data/orders.csv': 'order,amount\n1,12.50\n2,30.00\n3,7.25\n',
  'tests/test_report.py': 'import unittest\n',
};

export const setScenes = async (cloud: EmbeddedCloud): Promise<Scenes> => {
  const { id: working } = await makeSession(cloud, { approvals: 'auto', flavor: 'micro' });
  for (const [path, body] of Object.entries(files))
    await cloud.request(`/api/sessions/${working}/files/${path}`, { method: 'PUT', body });
  const say = (id: string, text: string) =>
    cloud.ask(`/api/sessions/${id}/messages`, { method: 'POST', body: JSON.stringify({ text }) });
  await say(working, '$ python3 report.py');
  const { id: waiting } = await makeSession(cloud, { flavor: 'micro' });
  await say(waiting, message);
  await eventually(
    () => cloud.ask<{ pendingApprovals: readonly object[] }>(`/api/sessions/${waiting}`),
    ({ pendingApprovals }) => pendingApprovals.length > 0,
    60_000,
  );
  for (const flavor of ['small', 'small', 'medium']) await makeSession(cloud, { kind: 'execution', flavor });
  await eventually(
    async () => {
      await cloud.janitor({ sweep: 'due' });
      return cloud.ask<{ pool: { ready: number } }>('/api/stats');
    },
    ({ pool }) => pool.ready === 2,
    60_000,
  );
  await cloud.janitor({ sweep: 'orphans' });
  await writeDay(cloud);
  return { waiting, working };
};

const pointsOfDay = 288;

/** The same day each time: busy by day, quiet by night, with a bad quarter of an hour. */
const writeDay = async ({ table }: EmbeddedCloud): Promise<void> => {
  const history = makeMetricsStore(table);
  const now = Date.now();
  const writes = Array.from({ length: pointsOfDay }, (_, back) => {
    const load = Math.max(0, Math.sin((back / pointsOfDay) * 2 * Math.PI + 1.1)) + 0.15;
    const wave = Math.abs(Math.sin(back * 12.9898)) * load;
    const times = (count: number, add: string): readonly UsageMeasurement[] =>
      Array.from({ length: Math.round(count) }, () => ({ add }));
    return history.add(
      [
        { set: 'active|agent#all', to: Math.round(9 * load + 2 * wave) },
        { set: 'active|execution#all', to: Math.round(5 * load + 3 * wave) },
        { set: 'sandboxes', to: Math.round(10 * load + 4 * wave) },
        ...times(3 * wave, `cold|${40 + (back % 6)}`),
        ...times(5 * wave, `warm|${31 + (back % 4)}`),
        ...times(4 * wave, `wait|${52 + (back % 9)}`),
        ...(back > 60 && back < 64 ? [...times(5, 'error|provider_overloaded'), { add: 'failed' }] : []),
        ...(back % 47 === 5 ? [{ add: 'error|execution_timeout' }] : []),
      ],
      now - back * usagePointMs,
    );
  });
  await Promise.all(writes);
};
