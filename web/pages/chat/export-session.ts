/** The download of a conversation as a document; its file is named after the title. */
import { type ExportFormat, exportConversation } from '#sdk/conversation-export.ts';
import { clientOf, inOurWords } from '../../api/request.ts';
import { saveAs } from '../sandbox/workspace-files.ts';

const endings: Readonly<Record<ExportFormat, string>> = { markdown: 'md', json: 'json' };
const types: Readonly<Record<ExportFormat, string>> = { markdown: 'text/markdown', json: 'application/json' };
const nameCharactersMax = 60;

export const downloadConversation = async (
  { id, title }: { readonly id: string; readonly title: string },
  format: ExportFormat,
): Promise<void> => {
  const text = await exportConversation(clientOf(), { id, format }).catch(inOurWords);
  const name = title
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, nameCharactersMax);
  saveAs(new Blob([text], { type: types[format] }), `${name || id}.${endings[format]}`);
};
