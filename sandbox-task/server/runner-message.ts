/**
 * The messages of the runner, parsed: a malformed one ends the runner.
 *
 * User code can take the runner over: these shapes are all that it can reach in the server. Each is made when a message of its type first
 * comes: most sandboxes see a few of them.
 */
import * as z from 'zod';
import { onFirstUse } from '#shared/contracts/on-first-use.ts';
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
const word = onFirstUse(() => z.string().max(2000));
const killCause = onFirstUse(() => z.enum(['timeout', 'cancelled', 'memory', 'processes']));
/** The name of a registered MCP server: it can neither break a line of the log nor colour it. */
const serverName = /^[\w-]{1,64}$/;
const displayable = /^(?:image|text)\/[\w.+-]{1,100}$/;
/** A name of ours in the workspace: it goes into the result's text. */
const outputPath = onFirstUse(() =>
  z.string().regex(/^\.sallyport\/outputs\/[\w-]{1,100}\.(?:stdout|stderr)\.txt$/),
);
const summary = onFirstUse(() =>
  z.object({
    bytes: count,
    headBytes: count,
    tailBytes: count,
    file: z.object({ path: outputPath(), bytes: count }).optional(),
  }),
);

const exit = onFirstUse(() => ({
  exitCode: z.number().int().nullable(),
  signal: word().nullable(),
  killedFor: killCause().nullable(),
  isEnded: z.boolean(),
  durationMs: count,
  startFailure: word().nullable(),
}));

const messages = {
  ready: onFirstUse(() => z.object({ type: z.literal('ready') })),
  output: onFirstUse(() =>
    z.object({ type: z.literal('output'), id, stream: z.enum(['stdout', 'stderr']), offset: count }),
  ),
  exit: onFirstUse(() =>
    z.object({
      type: z.literal('exit'),
      id,
      ...exit(),
      cpuMs: count,
      stdout: summary(),
      stderr: summary(),
      stateLost: z.boolean(),
      errorLine: word().nullable(),
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
  ),
  'process-started': onFirstUse(() => z.object({ type: z.literal('process-started'), id, pid: count })),
  'process-output': onFirstUse(() =>
    z.object({ type: z.literal('process-output'), id, stream: z.enum(processStreams) }),
  ),
  'process-ended': onFirstUse(() => z.object({ type: z.literal('process-ended'), id, isEnded: z.boolean() })),
  'process-exit': onFirstUse(() => z.object({ type: z.literal('process-exit'), id, ...exit() })),
  chunk: onFirstUse(() =>
    z.object({
      type: z.literal('chunk'),
      id,
      modifiedAt: z.iso.datetime(),
      ...{ file: word(), size: count, writtenAt: word() },
    }),
  ),
  written: onFirstUse(() => z.object({ type: z.literal('written'), id, isNew: z.boolean(), size: count })),
  received: onFirstUse(() => z.object({ type: z.literal('received'), id, bytes: count })),
  done: onFirstUse(() => z.object({ type: z.literal('done'), id })),
  'context-ended': onFirstUse(() => z.object({ type: z.literal('context-ended'), id, count })),
  piece: onFirstUse(() => z.object({ type: z.literal('piece'), id, isLast: z.boolean() })),
  restored: onFirstUse(() => z.object({ type: z.literal('restored'), id, files: count })),
  compared: onFirstUse(() => z.object({ type: z.literal('compared'), id, isSame: z.boolean() })),
  listed: onFirstUse(() => z.object({ type: z.literal('listed'), id, isCut: z.boolean() })),
  'stdio-log': onFirstUse(() =>
    z.object({ type: z.literal('stdio-log'), server: z.string().regex(serverName) }),
  ),
  'stdio-progress': onFirstUse(() => z.object({ type: z.literal('stdio-progress'), id })),
  'stdio-tools': onFirstUse(() =>
    z.object({ type: z.literal('stdio-tools'), id, isFresh: z.boolean(), leftOut: count }),
  ),
  'stdio-result': onFirstUse(() =>
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
  ),
  'stdio-failure': onFirstUse(() =>
    z.object({
      type: z.literal('stdio-failure'),
      id,
      isFresh: z.boolean(),
      failure: z.enum([...killCause().options, 'start', 'protocol', 'died', 'limit']),
      message: z.string().max(stdioMessageCharactersMax),
      stderrTail: z.string().max(stdioMessageCharactersMax),
      hasRun: z.boolean(),
      isLost: z.boolean(),
      isEnded: z.boolean(),
    }),
  ),
  refused: onFirstUse(() =>
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
  ),
};

export const fileEntry = onFirstUse(() =>
  z.object({
    name: z.string().max(1000),
    type: z.enum(['file', 'directory', 'symlink']),
    size: count,
    modifiedAt: z.iso.datetime(),
  }),
);
const entries = onFirstUse(() => z.array(fileEntry()));

const missing = onFirstUse(() =>
  z.array(z.object({ path: z.string().max(5000), reason: z.string().max(5000) })),
);

const isKnown = (type: unknown): type is keyof typeof messages =>
  typeof type === 'string' && Object.hasOwn(messages, type);

export const parseRunnerMessage = (header: unknown): RunnerMessage => {
  const type = typeof header === 'object' && header !== null && 'type' in header ? header.type : undefined;
  if (!isKnown(type)) throw new TypeError('a message of the runner of an unknown type');
  return messages[type]().parse(header);
};
export const parseFileEntries = (payload: Buffer): readonly FileEntry[] =>
  entries().parse(JSON.parse(payload.toString()));
export const parseMissing = (payload: Buffer): readonly MissingEntry[] =>
  missing().parse(JSON.parse(payload.toString()));
