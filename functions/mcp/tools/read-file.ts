/** `read_file`: a file of a session's workspace, text in the result, anything else beside it. */
import { readWorkspaceFile } from '#shared/application/session/session-files.ts';
import { readFileArguments, readFileResult } from '#shared/contracts/tools/mcp-tools.ts';
import { readFileBytesMax } from '#shared/contracts/tools/sandbox-tools.ts';
import { defineTool } from '../define-tool.ts';
import { fileContent } from '../file-content.ts';
import { fileRequest } from '../session-file.ts';

export const readFile = defineTool({
  name: 'read_file',
  description: `Reads a file of a session's workspace, at most ${readFileBytesMax} bytes. Text is returned as content; a binary file as an image or a base64 resource beside the result.`,
  needs: 'own:read',
  input: readFileArguments,
  output: readFileResult,
  annotations: { title: 'Read a file', readOnlyHint: true, openWorldHint: false },
  run: async (input, context) => {
    const options = await fileRequest(context, input);
    const bytes = await readWorkspaceFile(context.ports, { ...options, bytesMax: readFileBytesMax });
    const uri = `sallyport://sessions/${options.session.id}/files/${encodeURIComponent(input.path)}`;
    const content = fileContent(bytes, uri);
    const { mimeType } = content;
    const result = { path: input.path, size: bytes.length, mime_type: mimeType };
    if ('text' in content) return { ...result, content: content.text };
    context.show(content.block);
    return result;
  },
});
