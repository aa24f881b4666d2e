/** `list_files`: the names in one folder, at most 10,000, as a JSON list. It ends with its request. */
import * as z from 'zod';
import { listFolder } from '../user-files.ts';
import { defineTool, textResult, workspacePath } from './tool.ts';

export const listFilesTool = defineTool({
  name: 'list_files',
  description:
    'Lists a folder of the workspace, as JSON: [{"name", "type": "file" | "directory" | "symlink"}].',
  input: z.object({ path: workspacePath.default('.') }),
  run: async ({ path }, { userSide }) => {
    const entries = await listFolder(userSide, path);
    return textResult(JSON.stringify(entries.map(({ name, type }) => ({ name, type }))));
  },
});
