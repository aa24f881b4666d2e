/**
 * Work that other sandboxes show in their documents, done through the client library: a data frame, a chart, a training loop that
 * reports as it goes, a web server, and forks of a prepared workspace. Code waits for the packages that the first start installs.
 */
import { rm } from 'node:fs/promises';
import { chartsOf, tableOf } from '#sdk/code-results.ts';
import { Sallyport } from '#sdk/sallyport.ts';
import type { Sandbox } from '#sdk/sandbox.ts';
import { type Server, startServer } from '../e2e/server.ts';
import { exactly, type Finding, type Proof } from './proof.ts';

/** Debian's archive may be slow. */
const installSeconds = 900;

export const realWork: Proof = async (progress) => {
  const variables = { SALLYPORT_INSTALL_PACKAGES: 'true', MSB_DEFAULT_FLAVOR: 'small' };
  const server = await startServer({ variables });
  const client = new Sallyport(server);
  const sandbox = await client.sandboxes.create({ template: 'python' });
  const findings: Finding[] = [];
  for (const [name, work] of Object.entries({ dataFrame, chart, training, webServer, forks })) {
    findings.push(...(await work({ client, sandbox, server })));
    progress(name);
  }
  for (const { what } of findings.filter(({ isMet }) => !isMet)) progress(`not met: ${what}`);
  await server.stop();
  await rm(server.home, { recursive: true, force: true });
  return findings;
};

type Parts = { readonly client: Sallyport; readonly sandbox: Sandbox; readonly server: Server };
type Work = (parts: Parts) => Promise<readonly Finding[]>;

const holds = (what: string, isMet: boolean): Finding => exactly(what, Number(isMet), 1);

const dataFrame: Work = async ({ sandbox }) => {
  await sandbox.files.write('sales.csv', 'city,price\nRome,10\nOslo,20\nRome,30\n');
  const code = `import pandas as pd
sales = pd.read_csv('sales.csv')
sales.groupby('city', as_index=False).price.mean()`;
  const { results, exitCode } = await sandbox.code(code, { timeoutSeconds: installSeconds });
  const shown = results.at(-1) ?? {};
  const table = tableOf(shown);
  return [
    exactly('data frame: exit code', exitCode, 0),
    holds('data frame: as a table', String(shown['text/html']).includes('<table')),
    holds(
      'data frame: the means as data',
      JSON.stringify(table?.rows.map((row) => Object.values(row).slice(-2))) === '[["Oslo",20],["Rome",20]]',
    ),
  ];
};

const chart: Work = async ({ sandbox }) => {
  const code = `import matplotlib.pyplot as plt
plt.plot([1, 2, 3], [1, 4, 9], label='squares')
plt.title('Squares')
plt.show()`;
  const { results, exitCode } = await sandbox.code(code, { timeoutSeconds: installSeconds });
  const [shown = {}] = results;
  const [drawn] = chartsOf(shown);
  const [line] = drawn?.series ?? [];
  const image = Buffer.from(String(shown['image/png'] ?? ''), 'base64');
  return [
    exactly('chart: exit code', exitCode, 0),
    holds('chart: a PNG', image.subarray(1, 4).toString() === 'PNG'),
    holds('chart: its title', drawn?.title === 'Squares'),
    holds(
      'chart: its points',
      JSON.stringify(line !== undefined && 'points' in line && line.points) === '[[1,1],[2,4],[3,9]]',
    ),
  ];
};

const epochs = 400;

const training: Work = async ({ sandbox }) => {
  const code = `import numpy as np
x = np.random.default_rng(1).normal(size=(4000, 20))
wanted = np.arange(20.0)
y = x @ wanted
w = np.zeros(20)
for epoch in range(1, ${epochs + 1}):
    for _ in range(20):
        w -= 0.01 * x.T @ (x @ w - y) / len(x)
    print(f'epoch {epoch} loss {np.mean((x @ w - y) ** 2):.6f}', flush=True)
`;
  await sandbox.files.write('train.py', code);
  let live = '';
  let stateAtFirst: Promise<string | undefined> | undefined;
  const { exitCode, stdout } = await sandbox.exec('python3 train.py', {
    timeoutSeconds: installSeconds,
    onStdout: (text) => {
      live += text;
      stateAtFirst ??= sandbox.processes.list().then((all) => all.at(-1)?.state);
    },
  });
  const losses = [...stdout.matchAll(/loss ([\d.]+)/g)].map(([, loss]) => Number(loss));
  return [
    exactly('training: exit code', exitCode, 0),
    exactly('training: epochs reported', losses.length, epochs),
    holds('training: reported while it ran', (await stateAtFirst) === 'running'),
    holds('training: the live output is the whole output', live === stdout),
    holds('training: it learned', (losses.at(-1) ?? 1) < 0.001 && (losses[0] ?? 0) > 1),
  ];
};

const webServer: Work = async ({ sandbox, server }) => {
  await sandbox.files.write('site/index.html', '<h1>It works</h1>');
  const process = await sandbox.processes.start('python3 -u -m http.server 3000 --directory site');
  for await (const { text } of process.output()) if (text.includes('Serving')) break;
  const headers = { authorization: `Bearer ${server.token}` };
  const page = await fetch(sandbox.url(3000), { headers });
  const refused = await fetch(sandbox.url(3000));
  await process.kill();
  return [
    exactly('web server: status by its URL', page.status, 200),
    holds('web server: its page', (await page.text()) === '<h1>It works</h1>'),
    exactly('web server: status without a token', refused.status, 401),
    holds('web server: ended', (await process.wait()).signal === 'SIGTERM'),
  ];
};

const forkCount = 3;

const forks: Work = async ({ client, sandbox }) => {
  await sandbox.files.write('lib/prepared.py', 'def scale(x, by):\n    return [by * value for value in x]\n');
  await sandbox.files.write('data.json', '[1, 2, 3]');
  const snapshot = await sandbox.snapshot({ name: 'prepared' });
  const answers = await Promise.all(
    Array.from({ length: forkCount }, async (_, place) => {
      const fork = await client.sandboxes.create({ from: snapshot });
      const code = `import sys, json; sys.path.insert(0, 'lib')
from prepared import scale
data = scale(json.load(open('data.json')), ${place + 2})
json.dump(data, open('data.json', 'w'))
data`;
      const { results } = await fork.code(code);
      await fork.stop();
      return results.at(-1)?.['application/json'];
    }),
  );
  const right = answers.filter(
    (answer, place) => JSON.stringify(answer) === JSON.stringify([1, 2, 3].map((one) => one * (place + 2))),
  );
  return [
    exactly('forks: each with its own result', right.length, forkCount),
    holds(
      'forks: the prepared workspace is as it was',
      (await sandbox.files.read('data.json')) === '[1, 2, 3]',
    ),
  ];
};
