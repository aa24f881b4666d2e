/**
 * `read_file`, `write_file` and `list_files`: whole text files and folders of the workspace. They end with their request.
 *
 * Bytes that are not UTF-8 become replacement characters. Larger and binary files go over `/files`.
 */
import { readFileBytesMax, sandboxTools } from '#shared/contracts/tools/sandbox-tools.ts';
import { Refusal } from '../refusal.ts';
import { listFolder, readChunk, writeFile } from '../user-files.ts';
import { defineTool, textResult } from './tool.ts';

const writtenBytesMax = 4 * 1_048_576;

export const readFileTool = defineTool({
  name: 'read_file',
  contract: sandboxTools.read_file,
  run: async ({ path }, { userSide }) => {
    const { bytes, size } = await readChunk(userSide, path, { offset: 0, bytesMax: readFileBytesMax });
    if (size > readFileBytesMax) {
      throw new Refusal(
        'payload_too_large',
        `${path} has ${size} bytes; at most ${readFileBytesMax} can be read at once`,
      );
    }
    return textResult(bytes.toString());
  },
});

export const writeFileTool = defineTool({
  name: 'write_file',
  contract: sandboxTools.write_file,
  run: async ({ path, content }, { userSide }) => {
    const bytes = Buffer.from(content);
    if (bytes.length > writtenBytesMax) {
      throw new Refusal(
        'payload_too_large',
        `the content has ${bytes.length} bytes; at most ${writtenBytesMax}`,
      );
    }
    await writeFile(userSide, path, bytes);
    return textResult(`Successfully wrote to ${path}`);
  },
});

/** At most 10,000 names. */
export const listFilesTool = defineTool({
  name: 'list_files',
  contract: sandboxTools.list_files,
  run: async ({ path }, { userSide }) => {
    const entries = await listFolder(userSide, path);
    return textResult(JSON.stringify(entries.map(({ name, type }) => ({ name, type }))));
  },
});
