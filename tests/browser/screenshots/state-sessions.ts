/** Sessions of the states that a person looks at, with what the paced provider says in each: one that worked, with agents, and others. */
import { readFile } from 'node:fs/promises';
import { setTimeout as pass } from 'node:timers/promises';
import { makeSession } from '../../e2e/agent.ts';
import { type EmbeddedCloud, eventually } from '../../e2e/embedded-cloud.ts';
import type { PacedProvider } from '../paced-provider.ts';

type Scene = { readonly cloud: EmbeddedCloud; readonly provider: PacedProvider };

/** A picture of the repository: one of its own size would be a dot. */
export const png = await readFile(new URL('../../../docs/screenshots/sandbox-phone.png', import.meta.url));

const answer = String.raw`## What the orders came to

The mean of $n$ orders is $\bar{x} = \frac{1}{n}\sum_{i=1}^{n} x_i$, and its error

$$\sigma_{\bar{x}} = \frac{\sigma}{\sqrt{n}} \qquad \text{for } n > 30$$

| day | orders | amount | a note of some length |
|---|---:|---:|---|
| Monday | 12 | 1,204.50 | as expected |
| Tuesday | 30 | 3,998.00 | the *sale* began at noon, and the till was closed for an hour |
| Wednesday | 7 | 611.25 | |

1. Read the orders.
2. Sum them:
   - by day
   - by customer
- [x] done
- [ ] to do

> The sale is not in the forecast.

~~~python
def total(path: Path) -> float:
    with path.open() as orders:
        return sum(float(row["amount"]) for row in csv.DictReader(orders) if row["status"] != "cancelled")
~~~

See [the report](https://example.com/report) and ${'`'}data/orders.csv${'`'}.`;

const shownByCode = `class Shown:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {
            "text/plain": "a table",
            "application/vnd.dataresource+json": {
                "schema": {"fields": [{"name": "day", "type": "string"}, {"name": "amount", "type": "number"}]},
                "data": [{"day": f"day {day}", "amount": 12.5 * day} for day in range(12)], "rows": 240, "columns": 1},
        }
print("12 orders read")
Shown()`;

const drawnByCode = `class Drawn:
    def _repr_mimebundle_(self, include=None, exclude=None):
        points = [[day, day * day % 7] for day in range(7)]
        return {
            "text/plain": "a chart",
            "application/vnd.sallyport.chart+json": {
                "type": "line", "title": "Orders of a day",
                "axes": {"x": {"label": "day", "scale": "linear"}, "y": {"label": "orders", "scale": "linear"}},
                "series": [{"type": "line", "label": "orders", "points": points}]},
        }
Drawn()`;

const write = (path: string, content: string) => ({ call: 'write_file', input: { path, content } });

export const post = <T>(cloud: EmbeddedCloud, path: string, body: object): Promise<T> =>
  cloud.ask<T>(path, { method: 'POST', body: JSON.stringify(body) });

/** Returns at the end of the turn, or when it needs a person. */
const turn = async (cloud: EmbeddedCloud, id: string, message: object): Promise<void> => {
  await post(cloud, `/api/sessions/${id}/messages`, message);
  await eventually(
    () => cloud.ask<{ status: string; pendingApprovals: readonly object[] }>(`/api/sessions/${id}`),
    ({ status, pendingApprovals }) => ['idle', 'error'].includes(status) || pendingApprovals.length > 0,
    120_000,
  );
};

export const setWorking = async ({ cloud, provider }: Scene, project: string): Promise<string> => {
  const { id: working } = await makeSession(cloud, { approvals: 'auto', flavor: 'micro', project });
  provider.script.push(
    [
      { thinking: 'First the file, then its test.' },
      { text: 'I write the report and run it.' },
      write('report.py', 'import csv\n\nprint("total: 49.75")\n'),
      write('README.md', '# Report\n\nSums the orders.\n'),
    ],
    [{ call: 'execute_command', input: { command: 'git init -q . ; python3 report.py; ls -la /nowhere' } }],
    [write('report.py', 'import csv\n\nprint("total: 50.00")\n')],
    [{ text: 'The report is written. It prints **total: 50.00**.' }],
  );
  await turn(cloud, working, { text: 'Write the report and run its tests.' });
  await spawnAgents({ cloud, provider }, working);
  await post(cloud, `/api/sessions/${working}/snapshots`, { name: 'before-refactoring' });
  await post(cloud, `/api/sessions/${working}/snapshots`, { name: 'with-tests' });
  await post(cloud, `/api/sessions/${working}/ports`, { port: 8123 });
  provider.script.length = 0;
  provider.script.push(
    [{ call: 'execute_command', input: { command: '(python3 -m http.server 8123 >/dev/null 2>&1 &)' } }],
    [{ text: 'It is served on port 8123.' }],
  );
  await turn(cloud, working, { text: 'Serve it on port 8123.' });
  return working;
};

const spawnAgents = async ({ cloud, provider }: Scene, working: string): Promise<void> => {
  for (const [prompt, cost] of [
    ['Check the sums of the report', 0.5],
    ['Write the tests of the report, with the orders of a Monday, a Tuesday and a day without any', 1],
  ] as const) {
    provider.script.push(
      [{ call: 'session', input: { action: 'spawn', prompt, max_cost_usd: cost } }],
      [{ text: 'Its sums are right.' }],
      [{ text: 'The agent has begun.' }],
    );
    await turn(cloud, working, { text: `Let an agent do this: ${prompt}` });
    await pass(2000);
  }
};

export const setRich = async ({ cloud, provider }: Scene): Promise<string> => {
  const { id: rich } = await makeSession(cloud, { approvals: 'auto', flavor: 'micro' });
  provider.script.push(
    [{ call: 'execute_code', input: { language: 'python', code: shownByCode } }],
    [{ call: 'execute_code', input: { language: 'python', code: drawnByCode } }],
    [{ call: 'execute_command', input: { command: 'python3 -c "import a_package_that_is_not_there"' } }],
    [{ text: answer }],
  );
  await turn(cloud, rich, {
    text: 'What did the orders of the report come to? Show the formula and a table.',
  });
  return rich;
};

export const setAttached = async ({ cloud, provider }: Scene): Promise<string> => {
  const { id: attached } = await makeSession(cloud, { approvals: 'auto', flavor: 'micro' });
  for (const [path, body] of [
    ['attachments/0a1b2c3d-a-chart.png', png],
    ['attachments/0a1b2c3d-orders-of-the-whole-year-with-a-long-name.csv', 'a,b\n'],
  ] as const)
    await cloud.request(`/api/sessions/${attached}/files/${path}`, { method: 'PUT', body });
  provider.script.push([{ text: 'A red picture, and two columns.' }]);
  await turn(cloud, attached, {
    text: 'What is in these?',
    attachments: [
      { path: 'attachments/0a1b2c3d-a-chart.png' },
      { path: 'attachments/0a1b2c3d-orders-of-the-whole-year-with-a-long-name.csv' },
    ],
  });
  return attached;
};

export const setWaiting = async ({ cloud, provider }: Scene, project: string): Promise<string> => {
  const { id: waiting } = await makeSession(cloud, { flavor: 'micro', project });
  provider.script.push([
    { text: 'I change the report and run its tests.' },
    write('report.py', 'import csv\nfrom pathlib import Path\n\nprint("total")\n'),
    { call: 'execute_command', input: { command: 'python3 -m unittest -v && rm -rf build' } },
  ]);
  await turn(cloud, waiting, { text: 'Refactor the report, run its tests and clean up.' });
  return waiting;
};
