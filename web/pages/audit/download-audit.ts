/** The download of the audit log with its seals, as JSON lines: what `sallyport audit verify` checks. */
import { auditExportPath } from '#sdk/routes.ts';
import { send } from '../../api/request.ts';
import { saveAs } from '../sandbox/workspace-files.ts';

/** With the day of the download, so that an older export is kept beside a newer one. */
export const auditFileName = (now: Date): string => `audit-${now.toISOString().slice(0, 10)}.jsonl`;

const endLine = /\n\{"type":"end"[^\n]*\}\n$/;
const endCharactersMax = 200;

/** A download that was cut has no end: it is refused here, as the check of it would be. */
export const downloadAudit = async (): Promise<void> => {
  const content = await (await send(auditExportPath)).blob();
  const end = await content.slice(-endCharactersMax).text();
  if (!endLine.test(`\n${end}`)) throw new Error('The export was cut before its end. Try again.');
  saveAs(content, auditFileName(new Date()));
};
