/** `write_file`: a file of a session's workspace, replaced; it is saved before the answer. */
import { writeWorkspaceFile } from '#shared/application/session/session-files.ts';
import { writeFileArguments, writeFileBytesMax, writeFileResult } from '#shared/contracts/tools/mcp-tools.ts';
import { AppError } from '#shared/errors.ts';
import { defineTool } from '../define-tool.ts';
import { fileRequest } from '../session-file.ts';

export const writeFile = defineTool({
  name: 'write_file',
  description: `Writes a file of a session's workspace, at most ${writeFileBytesMax} bytes, as text or from base64. Missing folders are created; an existing file is replaced.`,
  needs: 'own:write',
  input: writeFileArguments,
  output: writeFileResult,
  annotations: { title: 'Write a file', destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run: async ({ content, encoding, ...input }, context) => {
    const bytes = bytesOf(content, encoding);
    const options = await fileRequest(context, input);
    const { size, isNew } = await writeWorkspaceFile(context.ports, { ...options, bytes });
    const { path } = input;
    return { path, size, created: isNew, message: `Successfully wrote to ${path}` };
  },
});

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const bytesOf = (content: string, encoding: 'utf-8' | 'base64'): Uint8Array => {
  if (encoding === 'base64' && !base64.test(content))
    throw new AppError('invalid_request', 'content: base64, with its padding', {
      suggestions: ['Correct the arguments as the message says.'],
      recoveryActions: ['correct_arguments'],
    });
  const bytes = Buffer.from(content, encoding);
  if (bytes.length <= writeFileBytesMax) return bytes;
  throw new AppError(
    'payload_too_large',
    `the content has ${bytes.length} bytes; at most ${writeFileBytesMax} are written at once`,
    { suggestions: ['Send it in parts over the REST API.'] },
  );
};
