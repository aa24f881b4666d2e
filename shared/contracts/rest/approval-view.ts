/** Waiting calls, decisions and grants as REST shows them. */
import * as z from 'zod';
import { effectEntryFields } from '#shared/contracts/effect-entry.ts';
import { changeKinds } from '#shared/domain/file-change.ts';
import { deciderKinds } from '#shared/domain/principal.ts';
import type { Grant } from '#shared/domain/turn/grant.ts';
import { afterPage, givenUuid, iso } from '../fields.ts';

const jsonObject = z.record(z.string(), z.unknown());
const count = z.number().int().min(0);
const digest = z
  .string()
  .describe('SHA-256, in hexadecimal, of the canonical JSON (RFC 8785) of {args, callId, name, turnId}.');

export const decider = z
  .object({
    kind: z.enum(deciderKinds),
    id: z
      .string()
      .describe(
        'Id of the token, the person or the grant; for a policy the approvals mode, or `effect rule <number>`.',
      ),
    name: z.string().optional(),
  })
  .meta({ id: 'Decider' });

const effect = z
  .object({
    files: z.array(
      z.object({
        path: z.string(),
        change: z.enum(changeKinds),
        diff: z
          .string()
          .exactOptional()
          .describe('Unified diff of lines; absent for a binary or a long file.'),
        bytes: count.describe('Size afterwards; of a removed file, before.'),
        ...effectEntryFields,
      }),
    ),
    filesLeftOut: count.exactOptional().describe('Number of changed files that are not listed.'),
    stateSha256: z
      .string()
      .exactOptional()
      .describe('Digest of the saved state with all files, where some are not listed.'),
    exitCode: z.number().int().nullable().describe('Null where no program ran to its end.'),
    output: z.string(),
    hosts: z
      .array(z.string())
      .describe(
        'Hosts that it asked for and did not reach, as `host:port`; `models` for a model, `platform` for a tool of the platform.',
      ),
    durationMs: count,
  })
  .meta({ id: 'Effect' });

const waitingCall = {
  turnId: z.string(),
  callId: z.string(),
  name: z.string(),
  args: jsonObject,
  digest,
  askedAt: z.iso.datetime(),
  queuePosition: count.describe('Position in the queue, from 1.'),
  totalInQueue: count,
  effect: effect.exactOptional().describe('What the call did when it was tried in a fork of the workspace.'),
  effectDigest: z
    .string()
    .exactOptional()
    .describe('SHA-256, in hexadecimal, of the canonical JSON (RFC 8785) of {digest, effect}.'),
  effectMissing: z.string().exactOptional().describe('Reason for which the call was not tried.'),
  advisory: z
    .literal(true)
    .exactOptional()
    .describe(
      'Set when an agent of the sandbox asks about its own act: the sandbox is the wall, not the question.',
    ),
};

export const pendingApproval = z.object(waitingCall);

export const approvalAnswer = z.object({ sessionId: z.uuid(), ...waitingCall }).meta({ id: 'Approval' });

export const approvalsQuery = z.object({
  project: givenUuid.optional(),
  after: afterPage,
});

export const approvalsAnswer = z.object({
  approvals: z.array(
    z
      .object({
        sessionId: z.uuid(),
        title: z.string(),
        project: z.uuid(),
        ...waitingCall,
        argsTruncated: z
          .literal(true)
          .optional()
          .describe('Set when the arguments are cut; the route of the one call returns all of them.'),
      })
      .meta({ id: 'WaitingCall' }),
  ),
  next: z.string().optional(),
});

export const decidedAnswer = z.object({
  callId: z.string(),
  approved: z.boolean(),
  digest,
  editedDigest: digest.optional(),
});

export const grantAnswer = z
  .object({
    id: z.string(),
    tool: z.string(),
    prefix: z
      .string()
      .optional()
      .describe('First words of the commands that the grant covers; absent: every call of the tool.'),
    by: decider,
    at: z.iso.datetime(),
  })
  .meta({ id: 'Grant' });

export const grantsAnswer = z.object({ grants: z.array(grantAnswer) });

export const grantView = ({ id, tool, prefix, by, at }: Grant): z.output<typeof grantAnswer> => ({
  id,
  tool,
  ...(prefix === undefined ? {} : { prefix }),
  by,
  at: iso(at),
});
