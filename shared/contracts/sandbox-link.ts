/**
 * The requests of the link function: one request to one sandbox, a checkpoint between a sandbox and the bucket, or a read of a
 * saved one. Only the link handles the contents of a workspace.
 */
import * as z from 'zod';
import { effectEntryFields } from '#shared/contracts/effect-entry.ts';
import { changeKinds } from '#shared/domain/file-change.ts';
import type { WorkspaceId } from '#shared/domain/ids.ts';
import { savedWants } from '#shared/domain/saved-tree.ts';
import { anyUuid, logStream, pathCharactersMax, sha256 } from './fields.ts';

/** Marks an answer of the link itself: `refused`, or `unsent` when it sent no byte. A sandbox cannot set it. */
export const linkHeader = 'x-sallyport-link';

/** `http://<private address>:<port>`. */
const address = z.url({ protocol: /^http$/ });
const correlationId = z.string().exactOptional();
const manifest = z.object({
  id: z.uuid(),
  sha256,
  /** The workspace that owns it; absent: the one of the call. */
  workspace: z.custom<WorkspaceId>((id) => anyUuid.safeParse(id).success).exactOptional(),
});
/** Objects that the base names as obsolete: kept by name, held until a later save, or all until the next one. */
const obsolete = z
  .union([
    z.object({ kept: z.array(z.string()), held: z.array(z.string()).exactOptional() }),
    z.literal('later'),
  ])
  .exactOptional();
/** The volume that all sandboxes of an owner share. */
const shared = z.object({ owner: z.string().min(1).max(256) }).exactOptional();
const target = { address, bearer: z.string().min(1), workspace: anyUuid, correlationId };

const fetchCall = z.object({
  kind: z.literal('fetch'),
  address,
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS']),
  /** A file's path of 4095 bytes, each of them encoded, and the route before it. */
  path: z.string().startsWith('/').max(12_800),
  headers: z.record(z.string(), z.string()),
  body: z.string().exactOptional(),
  /** `body` is base64 of bytes. */
  isBase64: z.literal(true).exactOptional(),
  correlationId,
});

const saveCall = z.object({
  kind: z.literal('save'),
  ...target,
  /** Names the request: each execution of it gives the new manifest a name of its own, and answers with that. */
  id: z.uuid(),
  /** The checkpoint that the table names. */
  base: manifest.exactOptional(),
  /** Log lines of the sandbox after this number come with the answer. */
  logsAfter: z.number().int().min(0),
  obsolete,
  /** Saves this volume besides, file by file. */
  shared,
});

const restoreCall = z.object({
  kind: z.literal('restore'),
  ...target,
  /** The number of the claim that it is made under: the sandbox takes none after a higher one. */
  claim: z.number().int().min(1),
  /** Absent for a workspace that was never saved. */
  manifest: manifest.exactOptional(),
  /** Restores this volume besides, with its current contents. */
  shared,
});

/** A read of a saved workspace, without a sandbox: no address. */
const savedCall = z.object({
  kind: z.literal('saved'),
  workspace: anyUuid,
  manifest,
  /** Epoch milliseconds. */
  savedAt: z.number().int().min(0),
  want: z.enum(savedWants),
  path: z.string().max(pathCharactersMax),
  correlationId,
});

/** A new manifest with the contents of another one, without a sandbox: no address. */
const adoptCall = z.object({
  kind: z.literal('adopt'),
  workspace: anyUuid,
  /** Names the request: each execution of it gives the new manifest a name of its own, and answers with that. */
  id: z.uuid(),
  /** Absent: the new manifest is empty. */
  from: manifest.exactOptional(),
  /** The checkpoint that the table names. */
  base: manifest.exactOptional(),
  obsolete,
  correlationId,
});

/** The states before and after a trial, each absent where there were no files. */
const states = { before: manifest.exactOptional(), after: manifest.exactOptional() };

/** A comparison of two saved states, without a sandbox: no address. The workspace is the one that sees both. */
const compareCall = z.object({ kind: z.literal('compare'), workspace: anyUuid, ...states, correlationId });

/** The difference of two saved states, written into a sandbox that runs. */
const applyCall = z.object({ kind: z.literal('apply'), ...target, id: z.uuid(), ...states });

export const linkCall = z.discriminatedUnion('kind', [
  fetchCall,
  saveCall,
  restoreCall,
  savedCall,
  adoptCall,
  compareCall,
  applyCall,
]);

export type LinkCall = z.output<typeof linkCall>;
export type FetchCall = z.output<typeof fetchCall>;
export type SaveCall = z.output<typeof saveCall>;
export type RestoreCall = z.output<typeof restoreCall>;
export type SavedCall = z.output<typeof savedCall>;
export type AdoptCall = z.output<typeof adoptCall>;
export type CompareCall = z.output<typeof compareCall>;
export type ApplyCall = z.output<typeof applyCall>;

const ref = z.object({ path: z.string(), reason: z.string() });

const sandboxLogLine = z.object({
  number: z.number().int().min(0),
  /** Epoch milliseconds. */
  at: z.number().int().min(0),
  stream: logStream,
  text: z.string(),
});

/** The sandbox's answer to `GET /logs?after=<number>`. */
export const sandboxLogPage = z.object({ lines: z.array(sandboxLogLine) });

const count = z.number().int().min(0);
/** The files that the save wrote and deleted, not the contents of the volume. */
const sharedSaved = z.object({ files: count, bytes: count, removed: count, leftOut: z.array(ref) });
const sharedRestored = z.object({ files: count, bytes: count, missing: z.array(ref) });
/** The outcome for the shared volume, whatever the workspace's; absent where there is none. */
const ofSave = { shared: sharedSaved.exactOptional(), sharedFailed: z.string().exactOptional() };
const ofRestore = { shared: sharedRestored.exactOptional(), sharedFailed: z.string().exactOptional() };

/** The body of the answer to a save that reached the sandbox. */
export const saveAnswer = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('saved'),
    manifest,
    files: count,
    bytes: count,
    packs: z.array(z.string()),
    /** The files are those of the checkpoint that the table names. */
    hasSameFiles: z.literal(true).exactOptional(),
    leftOut: z.array(ref),
    logs: z.array(sandboxLogLine),
    ...ofSave,
  }),
  /** Nothing differs from the base: nothing was written. */
  z.object({
    status: z.literal('unchanged'),
    /** Absent from a link of an older release. */
    leftOut: z.array(ref).default([]),
    logs: z.array(sandboxLogLine),
    ...ofSave,
  }),
  z.object({ status: z.literal('refused'), code: z.string(), message: z.string(), ...ofSave }),
]);

/** The body of the answer to a restore that reached the sandbox. `refused`: nothing of the workspace was restored. */
export const restoreAnswer = z.discriminatedUnion('status', [
  z.object({ status: z.literal('restored'), files: count, missing: z.array(ref), ...ofRestore }),
  z.object({ status: z.literal('refused'), reason: z.string(), ...ofRestore }),
]);

export const adoptAnswer = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('adopted'),
    manifest,
    files: count,
    bytes: count,
    packs: z.array(z.string()),
  }),
  z.object({ status: z.literal('refused'), reason: z.string() }),
]);

const refused = z.object({ status: z.literal('refused'), reason: z.string() });

/** `changes`: the number of all of them; the files are the first. */
export const compareAnswer = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('compared'),
    files: z.array(
      z.object({
        path: z.string(),
        change: z.enum(changeKinds),
        bytes: count,
        diff: z.string().exactOptional(),
        ...effectEntryFields,
      }),
    ),
    changes: count,
  }),
  refused,
]);

export const applyAnswer = z.discriminatedUnion('status', [
  z.object({ status: z.literal('applied'), files: count, missing: z.array(ref) }),
  refused,
]);

export type CompareAnswer = z.output<typeof compareAnswer>;
export type ApplyAnswer = z.output<typeof applyAnswer>;
export type LinkAnswer = SaveAnswer | RestoreAnswer | AdoptAnswer | CompareAnswer | ApplyAnswer;
export type AdoptAnswer = z.output<typeof adoptAnswer>;
export type SaveAnswer = z.output<typeof saveAnswer>;
export type RestoreAnswer = z.output<typeof restoreAnswer>;
export type SharedSaved = z.output<typeof sharedSaved>;
export type SharedRestored = z.output<typeof sharedRestored>;
