/** The record of decisions: a chain per session (AP8), sealed and signed, exported, and checked without the deployment. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { auditItem, makeAuditLog } from '#shared/adapters/aws/dynamo/audit-log.ts';
import { keys } from '#shared/adapters/aws/dynamo/table.ts';
import { systemWorld } from '#shared/adapters/system-world.ts';
import { auditRowView } from '#shared/contracts/audit-row.ts';
import type { AuditRow } from '#shared/domain/audit.ts';
import { rowHash } from '#shared/domain/audit-seal.ts';
import type { JsonObject } from '#shared/domain/json.ts';
import { makeMachine } from '../../cli/fixtures/run-cli.ts';
import { makeSession } from './agent.ts';
import { type EmbeddedCloud, openEmbeddedCloud } from './embedded-cloud.ts';
import { connect } from './socket-client.ts';

let cloud: EmbeddedCloud;
// One for each try: its first seal has all of its rows, and a row that is sealed cannot be moved.
beforeEach(async () => {
  cloud = await openEmbeddedCloud({ variables: { LLM_PROVIDER: 'demo' } });
});
afterEach(() => cloud.stop());

type Line = Readonly<Record<string, unknown>> & { readonly type: string };
const linesOf = (text: string): Line[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

/** The session of two calls that were rejected. */
const rejectTwo = async (): Promise<string> => {
  const { id } = await makeSession(cloud, { flavor: 'micro' });
  const client = await connect(cloud, { sessionId: id });
  await client.untilType('system:ready');
  client.send('message', { text: '$ echo one\n$ echo two' });
  for (const place of [0, 1]) {
    const { data } = await client.untilType('tool:approval_required', place);
    client.send('tool:approval', { callId: data.callId, approved: false, digest: data.digest });
  }
  await client.untilType('completion');
  await client.close();
  return id;
};

test('decisions form a chain, are exported with their seals, and a change of the file is found', async () => {
  const id = await rejectTwo();
  const response = await cloud.request('/api/audit/export');
  expect(response.headers.get('content-type')).toContain('jsonl');
  const text = await response.text();
  const lines = linesOf(text);
  expect([lines[0]?.type, lines.at(-1)?.type]).toEqual(['key', 'end']);
  const decisions = lines.filter(({ subject, action }) => subject === id && action === 'approval.decide');
  expect(decisions.map(({ chain }) => chain)).toEqual([
    { index: 1, previous: '0'.repeat(64) },
    { index: 2, previous: decisions[0]?.['hash'] },
  ]);
  const machine = await makeMachine();
  const file = join(machine.folder, 'audit.jsonl');
  const check = async (content: string) => {
    await writeFile(file, content);
    return machine.run(['audit', 'verify', 'audit.jsonl']);
  };
  expect(await check(text)).toMatchObject({ code: 0, stdout: expect.stringContaining('agrees with itself') });
  const forged = text.replace('"approved":false', '"approved":true');
  expect(await check(forged)).toMatchObject({ code: 1, stdout: expect.stringContaining('was changed') });
});

/** More than a write of a row can take. */
const settledMs = 120_000;

/** As if all rows had been written earlier, chains and all; the rows as they are then. */
const moveRows = async (): Promise<readonly AuditRow[]> => {
  const { client, name: TableName } = cloud.table;
  const log = makeAuditLog(cloud.table);
  const rows = [];
  let after: string | undefined;
  do {
    const page = await log.read({ from: 0, through: Date.now() + settledMs, after, itemsMax: 500 });
    rows.push(...page.rows);
    after = page.next;
  } while (after !== undefined);
  const heads = new Map<string, string>();
  const moved: AuditRow[] = [];
  for (const { id, row } of rows) {
    const { subject, chain } = row;
    const earlier = {
      ...row,
      at: row.at - settledMs,
      ...(chain === undefined ? {} : { chain: { ...chain, previous: heads.get(subject) ?? chain.previous } }),
    };
    if (chain !== undefined) heads.set(subject, rowHash(auditRowView(earlier), systemWorld.sha256));
    const Key = { pk: keys.audit(row.at, '').pk, sk: id };
    await client.send(new DeleteCommand({ TableName, Key }));
    await client.send(new PutCommand({ TableName, Item: auditItem(earlier) }));
    moved.push(earlier);
  }
  return moved;
};

/** Each by someone who makes hashes, ids and the end again, and has no key. */
const forgeriesOf = (lines: readonly Line[]): Readonly<Record<string, readonly Line[]>> => {
  const at = lines.findIndex(({ type }) => type === 'row') + 1;
  const hashed = ({ type, id, hash: _, ...row }: Line): Line => ({
    ...{ type, id, ...row },
    hash: rowHash(row as JsonObject, systemWorld.sha256),
  });
  const row = lines[at] as Line;
  const earlier = Number.parseInt(String(row['id']), 10) - settledMs;
  const back = hashed({ ...row, id: `${earlier}#00000000`, at: new Date(earlier).toISOString() });
  const without = lines
    .toSpliced(at, 1)
    .map((line) => (line.type === 'end' ? { ...line, rows: Number(line['rows']) - 1 } : line));
  return {
    changed: lines.with(at, hashed({ ...row, detail: { forged: true } })),
    dropped: without,
    reordered: lines.with(at, lines[at - 1] as Line).with(at - 1, row),
    backdated: lines.toSpliced(at, 1).toSpliced(at - 1, 0, back),
  };
};

test('rows are sealed and signed by the janitor, and only an administrator exports them', async () => {
  await rejectTwo();
  const rows = await moveRows();
  expect(rows.some(({ chain }) => chain !== undefined)).toBe(true);
  expect(await cloud.janitor({ sweep: 'seals' })).toEqual({ sealed: rows.length });
  const lines = linesOf(await (await cloud.request('/api/audit/export')).text());
  expect(lines.filter(({ type }) => type === 'seal')).toMatchObject([
    { number: 1, rows: rows.length, signature: expect.any(String), root: expect.any(String) },
  ]);
  const machine = await makeMachine({ SALLYPORT_URL: cloud.url, SALLYPORT_TOKEN: cloud.token });
  expect(await machine.run(['audit', 'export', 'all.jsonl'])).toMatchObject({ code: 0 });
  expect(await machine.run(['--json', 'audit', 'verify', 'all.jsonl'])).toMatchObject({ code: 0 });
  const root = String(lines.find(({ type }) => type === 'seal')?.['root']);
  const withSeal = (kept: string) => machine.run(['audit', 'verify', 'all.jsonl', '--seal', kept]);
  expect(await withSeal(root)).toMatchObject({ code: 0, stdout: expect.stringContaining(root) });
  expect(await withSeal('f'.repeat(64))).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('no seal'),
  });
  const unsigned = lines
    .filter(({ type }) => type !== 'key')
    .map(({ signature: _, keyId: __, algorithm: ___, ...line }) => JSON.stringify(line));
  await writeFile(join(machine.folder, 'unsigned.jsonl'), `${unsigned.join('\n')}\n`);
  expect(await machine.run(['audit', 'verify', 'unsigned.jsonl'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('No signature binds it: anyone could have made all of it.'),
  });
  await writeFile(join(machine.folder, 'key.pem'), String(lines[0]?.['publicKey']));
  expect(await machine.run(['audit', 'verify', 'unsigned.jsonl', '--key', 'key.pem'])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('seal 1: is not signed'),
  });
  const found = await Promise.all(
    Object.entries(forgeriesOf(lines)).map(async ([name, forged]) => {
      const file = `${name}.jsonl`;
      await writeFile(join(machine.folder, file), forged.map((line) => `${JSON.stringify(line)}\n`).join(''));
      const { code, stdout } = await machine.run(['--json', 'audit', 'verify', file]);
      return [name, code, JSON.parse(stdout).problems.join()];
    }),
  );
  expect(found).toEqual([
    ['changed', 1, expect.stringContaining('seal 1: holds')],
    ['dropped', 1, expect.stringContaining('seal 1: holds')],
    ['reordered', 1, expect.stringContaining('is out of order')],
    ['backdated', 1, expect.stringContaining('seal 1: holds')],
  ]);
  const { token } = await cloud.ask<{ token: string }>('/api/tokens', {
    method: 'POST',
    body: JSON.stringify({ name: 'reader', scope: 'admin:ro' }),
  });
  const asReader = { headers: { authorization: `Bearer ${token}` } };
  expect((await cloud.request('/api/audit/export', asReader)).status).toBe(200);
  const { id: project } = await cloud.ask<{ id: string }>('/api/projects', {
    method: 'POST',
    body: JSON.stringify({ name: `audit ${Date.now()}` }),
  });
  const { token: narrow } = await cloud.ask<{ token: string }>('/api/tokens', {
    method: 'POST',
    body: JSON.stringify({ name: 'narrow', scope: `project:${project}` }),
  });
  const asProject = { headers: { authorization: `Bearer ${narrow}` } };
  expect((await cloud.request('/api/audit/export', asProject)).status).toBe(403);
});
