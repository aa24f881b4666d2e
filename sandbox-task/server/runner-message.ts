/**
 * The messages of the runner, parsed: a malformed one ends the runner.
 *
 * User code can take the runner over: these shapes are all that it can reach in the server.
 */
import * as z from 'zod';
import {
  type FileEntry,
  type MissingEntry,
  type RunnerMessage,
  refusalCharactersMax,
  stdioMessageCharactersMax,
} from '../wire/messages.ts';
import { processStreams } from '../wire/process-messages.ts';
import { blocksMax, resultMimeType, resultPartsMax, resultsMax } from '../wire/program-messages.ts';

const count = z.number().int().nonnegative();
const id = count;
/** A signal's name and a start failure; longer ones are forged. */
const word = z.string().max(2000);
const killCause = z.enum(['timeout', 'cancelled', 'memory', 'processes']);
/** The name of a registered MCP server: it can neither break a line of the log nor colour it. */
const serverName = /^[\w-]{1,64}$/;
const displayable = /^(?:image|text)\/[\w.+-]{1,100}$/;
/** A name of ours in the workspace: it goes into the result's text. */
const outputPath = z.string().regex(/^\.sallyport\/outputs\/[\w-]{1,100}\.(?:stdout|stderr)\.txt$/);
const summary = z.object({
  bytes: count,
  headBytes: count,
  tailBytes: count,
  file: z.object({ path: outputPath, bytes: count }).optional(),
});

const exit = {
  exitCode: z.number().int().nullable(),
  signal: word.nullable(),
  killedFor: killCause.nullable(),
  isEnded: z.boolean(),
  durationMs: count,
  startFailure: word.nullable(),
};

const message = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('output'), id, stream: z.enum(['stdout', 'stderr']), offset: count }),
  z.object({
    type: z.literal('exit'),
    id,
    ...exit,
    cpuMs: count,
    stdout: summary,
    stderr: summary,
    stateLost: z.boolean(),
    errorLine: word.nullable(),
    results: z
      .array(
        z.object({
          isValue: z.boolean(),
          parts: z
            .array(z.object({ mimeType: z.string().regex(resultMimeType), bytes: count }))
            .max(resultPartsMax),
        }),
      )
      // One more is the value of the last expression.
      .max(resultsMax + 1),
    resultsLeftOut: count,
  }),
  z.object({ type: z.literal('process-started'), id, pid: count }),
  z.object({ type: z.literal('process-output'), id, stream: z.enum(processStreams) }),
  z.object({ type: z.literal('process-ended'), id, isEnded: z.boolean() }),
  z.object({ type: z.literal('process-exit'), id, ...exit }),
  z.object({
    type: z.literal('chunk'),
    id,
    modifiedAt: z.iso.datetime(),
    ...{ file: word, size: count, writtenAt: word },
  }),
  z.object({ type: z.literal('written'), id, isNew: z.boolean(), size: count }),
  z.object({ type: z.literal('received'), id, bytes: count }),
  z.object({ type: z.literal('done'), id }),
  z.object({ type: z.literal('context-ended'), id, count }),
  z.object({ type: z.literal('piece'), id, isLast: z.boolean() }),
  z.object({ type: z.literal('restored'), id, files: count }),
  z.object({ type: z.literal('compared'), id, isSame: z.boolean() }),
  z.object({ type: z.literal('listed'), id, isCut: z.boolean() }),
  z.object({ type: z.literal('stdio-log'), server: z.string().regex(serverName) }),
  z.object({ type: z.literal('stdio-progress'), id }),
  z.object({ type: z.literal('stdio-tools'), id, isFresh: z.boolean(), leftOut: count }),
  z.object({
    type: z.literal('stdio-result'),
    id,
    isFresh: z.boolean(),
    durationMs: count,
    isError: z.boolean(),
    errorCode: z.number().int().nullable(),
    blocks: z
      .array(z.object({ mimeType: z.string().regex(displayable), bytes: count }))
      // One more says what was left out.
      .max(blocksMax + 1),
    structuredBytes: count,
    isCut: z.boolean(),
  }),
  z.object({
    type: z.literal('stdio-failure'),
    id,
    isFresh: z.boolean(),
    failure: z.enum([...killCause.options, 'start', 'protocol', 'died', 'limit']),
    message: z.string().max(stdioMessageCharactersMax),
    stderrTail: z.string().max(stdioMessageCharactersMax),
    hasRun: z.boolean(),
    isLost: z.boolean(),
    isEnded: z.boolean(),
  }),
  z.object({
    type: z.literal('refused'),
    id,
    failure: z.enum([
      'path_outside_workspace',
      'file_not_found',
      'invalid_request',
      'conflict',
      'resource_limit_exceeded',
    ]),
    message: z.string().max(refusalCharactersMax),
  }),
]);

export const fileEntry = z.object({
  name: z.string().max(1000),
  type: z.enum(['file', 'directory', 'symlink']),
  size: count,
  modifiedAt: z.iso.datetime(),
});
const entries = z.array(fileEntry);

const missing = z.array(z.object({ path: z.string().max(5000), reason: z.string().max(5000) }));

export const parseRunnerMessage = (header: unknown): RunnerMessage => message.parse(header);
export const parseFileEntries = (payload: Buffer): readonly FileEntry[] =>
  entries.parse(JSON.parse(payload.toString()));
export const parseMissing = (payload: Buffer): readonly MissingEntry[] =>
  missing.parse(JSON.parse(payload.toString()));
