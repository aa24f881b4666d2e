/** `list_files`: the names in one folder of a session's workspace. */
import * as z from 'zod';
import { listWorkspaceFiles } from '#shared/application/session/session-files.ts';
import { decodeStored } from '#shared/contracts/decode.ts';
import { listFilesArguments, listFilesResult } from '#shared/contracts/tools/mcp-tools.ts';
import { defineTool } from '../define-tool.ts';
import { fileRequest } from '../session-file.ts';

/** A sandbox's answer is untrusted. */
const listed = z.object({
  files: z.array(z.object({ name: z.string(), type: z.string(), size: z.number(), modifiedAt: z.string() })),
});

export const listFiles = defineTool({
  name: 'list_files',
  description: "Lists one folder of a session's workspace.",
  needs: 'own:read',
  input: listFilesArguments,
  output: listFilesResult,
  annotations: { title: 'List files', readOnlyHint: true, openWorldHint: false },
  run: async (input, context) => {
    const options = await fileRequest(context, input);
    const { files } = decodeStored(listed, await listWorkspaceFiles(context.ports, options));
    return {
      path: input.path,
      files: files.map(({ modifiedAt, ...file }) => ({ ...file, modified_at: modifiedAt })),
    };
  },
});
