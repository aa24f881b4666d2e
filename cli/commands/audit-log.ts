/** `audit`: the audit log, newest entries first. */

import type { AnswerOf } from '#sdk/route.ts';
import { type AuditRow, api } from '#sdk/routes.ts';
import { type Call, type Command, none, value, wholeNumber } from '../runtime/command.ts';
import { tableLines } from '../runtime/output.ts';

const rowsDefault = 50;

const run = async (call: Call): Promise<undefined> => {
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

export const auditCommand: Command = {
  name: 'audit',
  usage: '[--project <id>] [--limit <rows>]',
  summary: 'Show the audit log, newest first',
  options: { project: value, limit: value },
  positionals: none,
  run,
};
