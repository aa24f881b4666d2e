/** `npm run openapi`: writes the document that GET /api/openapi.json answers with. Never part of the Lambda. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openApiDocument } from './document.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
const text = `${JSON.stringify(openApiDocument(version), null, 2)}\n`;
await writeFile(join(import.meta.dirname, '..', 'openapi.json'), text);
