/**
 * `audit`: the audit log, newest entries first; `audit export` and `audit verify`: the log with its seals as a file, and the check of
 * such a file without the deployment. Verifying reads no network and no settings.
 */

import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { linesOf } from '#sdk/lines.ts';
import type { AnswerOf } from '#sdk/route.ts';
import { type AuditRow, api } from '#sdk/routes.ts';
import { type ExportLine, type Verification, verifyAudit } from '#shared/domain/verify-audit.ts';
import { type Call, type Command, none, one, value, wholeNumber } from '../runtime/command.ts';
import { failure, unreadable } from '../runtime/failure.ts';
import { tableLines } from '../runtime/output.ts';
import { saveStream } from '../runtime/save-stream.ts';

const rowsDefault = 50;

const showLog = async (call: Call): Promise<undefined> => {
  const rowsMax = wholeNumber(call.text('limit'), 'limit') ?? rowsDefault;
  const { rows, hasMore } = await readRows(call, rowsMax);
  call.output.result({ rows }, () =>
    tableLines(
      ['AT', 'BY', 'ACTION', 'SUBJECT', 'DETAIL'],
      rows.map((row) => [row.at, row.actorName ?? row.actor, row.action, row.subject, detailOf(row)]),
      'No entries.',
    ),
  );
  if (hasMore && !call.output.isJson) call.output.note('More entries exist: use --limit to show them.');
};

/** Reads pages until there are enough rows. */
const readRows = async (call: Call, rowsMax: number) => {
  const project = call.text('project');
  const rows: AuditRow[] = [];
  let after: string | undefined;
  do {
    const page: AnswerOf<typeof api.listAudit> = await call.request(api.listAudit, {
      query: { project, after },
    });
    rows.push(...page.rows);
    after = page.next;
  } while (after !== undefined && rows.length < rowsMax);
  return { rows: rows.slice(0, rowsMax), hasMore: after !== undefined || rows.length > rowsMax };
};

const detailOf = ({ detail }: AuditRow): string => {
  const { approved, name, ...rest } = detail;
  if (typeof approved === 'boolean') return `${approved ? 'approved' : 'rejected'} ${String(name ?? '')}`;
  return Object.entries({ ...(name === undefined ? {} : { name }), ...rest })
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const isSigned = (text: string, signature: string, publicKey: string): boolean => {
  try {
    const key = createPublicKey(publicKey);
    return verify('sha256', Buffer.from(text), key, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
};

const exportTo = async (call: Call): Promise<undefined> => {
  const [file = ''] = call.positionals;
  const body = await (await call.client()).exportAudit();
  const target = resolve(call.host.folder, file);
  await saveStream(call.host, body, target);
  call.output.result({ file: target }, () => [
    `Written to ${target}. Check it with: sallyport audit verify ${file}`,
  ]);
  return undefined;
};

async function* exportedLines(file: string): AsyncGenerator<ExportLine> {
  let number = 0;
  for await (const text of linesOf(createReadStream(file))) {
    number += 1;
    if (text.trim() === '') continue;
    try {
      yield JSON.parse(text) as ExportLine;
    } catch {
      throw failure('invalid_file', `line ${number} is not JSON: the file is not an export, or was cut`);
    }
  }
}

const verifyFile = async (call: Call): Promise<number | undefined> => {
  const [file = ''] = call.positionals;
  const keyFile = call.text('key');
  const publicKey =
    keyFile && (await readFile(resolve(call.host.folder, keyFile), 'utf8').catch(unreadable(keyFile)));
  const lines = exportedLines(resolve(call.host.folder, file));
  const known = { publicKey, keptRoot: call.text('seal') };
  const checks = { hash: sha256, timeOf: Date.parse, isSigned, ...known };
  const verified = await verifyAudit(lines, checks).catch(unreadable(file));
  call.output.result({ ...verified }, () =>
    reportOf(verified, { hasKey: publicKey !== undefined, hasRoot: call.text('seal') !== undefined }),
  );
  return verified.problems.length === 0 ? undefined : 1;
};

/** By the person who verifies: what is in the file alone can have been made by anybody. */
type Named = { readonly hasKey: boolean; readonly hasRoot: boolean };

const reportOf = (
  { rows, seals, signed, unsealed, firstSeal, lastSeal, problems }: Verification,
  named: Named,
): readonly string[] => [
  `${rows} rows, ${seals} seals, ${signed} of them signed.`,
  ...problems.map((problem) => `NOT AS RECORDED: ${problem}`),
  verdictOf({ seals, signed, problems }, named),
  ...(firstSeal === undefined || firstSeal === 1
    ? []
    : [`The file begins with seal ${firstSeal}. It does not contain the rows of older seals.`]),
  ...(lastSeal === undefined
    ? []
    : [
        `Its last seal is ${lastSeal.number}. Keep the root, and name it later with --seal: ${lastSeal.root}`,
      ]),
  ...(unsealed === 0
    ? []
    : [
        `${unsealed} rows are newer than the last seal: the newest of these can be removed or added without a trace.`,
      ]),
  ...(named.hasKey || seals === 0 ? [] : [keyAdvice(signed)]),
];

const keyAdvice = (signed: number): string =>
  signed === 0
    ? 'If the deployment signs its seals, name its key with --key: then missing signatures are problems.'
    : 'The key is the one in the file: compare it with the key of the deployment, or name that with --key.';

const verdictOf = (
  { seals, signed, problems }: Pick<Verification, 'seals' | 'signed' | 'problems'>,
  { hasKey, hasRoot }: Named,
): string => {
  if (problems.length > 0) return `${problems.length} problems.`;
  if (signed > 0 && hasKey) return 'Every row up to the last seal is as it was recorded.';
  if (hasRoot) return 'Every row up to the seal of that root is as it was recorded.';
  if (signed > 0) return 'The file agrees with itself and with the key in it. Anyone could have made both.';
  const missing = seals === 0 ? 'No seal binds its rows' : 'No signature binds it';
  return `The file agrees with itself. ${missing}: anyone could have made all of it.`;
};

export const auditCommands: readonly Command[] = [
  {
    name: 'audit',
    usage: '[--project <id>] [--limit <rows>]',
    summary: 'Show the audit log, newest first',
    options: { project: value, limit: value },
    positionals: none,
    run: showLog,
  },
  {
    name: 'audit export',
    usage: '<file>',
    summary: 'Write the audit log with its seals into a file',
    positionals: one,
    run: exportTo,
  },
  {
    name: 'audit verify',
    usage: '<file> [--key <public key file>] [--seal <root>]',
    summary: 'Check an exported audit log, without the deployment',
    options: { key: value, seal: value },
    positionals: one,
    run: verifyFile,
  },
];
