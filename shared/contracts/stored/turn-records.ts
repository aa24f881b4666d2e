/** The state of a turn as the table holds it, decoded on its way in: its calls with their trials and waits, and what it carries. */
import * as z from 'zod';
import { effectEntryFields } from '#shared/contracts/effect-entry.ts';
import { stopReasons, type ToolContent } from '#shared/domain/event-log.ts';
import { changeKinds } from '#shared/domain/file-change.ts';
import type { CallId, MessageId, SessionId, TurnId, WorkspaceId } from '#shared/domain/ids.ts';
import { imageTypes } from '#shared/domain/image-type.ts';
import { platformTools } from '#shared/domain/requested-call.ts';
import { agentRuntimes } from '#shared/domain/runtime-name.ts';
import type { TokenMeasure } from '#shared/domain/token-measure.ts';
import { callStatuses } from '#shared/domain/turn/tool-call.ts';
import type { CallTrial } from '#shared/domain/turn/trial.ts';
import type { TurnState } from '#shared/domain/turn/turn.ts';
import { effectPolicy } from '../effect-policy.ts';
import { onFirstUse } from '../on-first-use.ts';
import { approvals, count, epochMs, grants, id, jsonObject, usage, usd } from './fields.ts';

export const askedCall = onFirstUse(() =>
  z.object({ callId: id<CallId>(), name: z.string(), args: jsonObject }),
);

const toolRoute = onFirstUse(() =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.enum(['remote', 'stdio']), server: z.string(), tool: z.string() }),
    z.object({ kind: z.literal('caller'), caller: z.string(), tool: z.string() }),
    z.object({ kind: z.literal('platform'), tool: z.enum(platformTools) }),
    z.object({ kind: z.literal('runtime'), runtime: z.enum(agentRuntimes), question: z.string() }),
  ]),
);

const callWait = onFirstUse(() =>
  z.union([
    z.object({ id: z.string(), since: epochMs, endsBy: epochMs, notice: z.string().exactOptional() }),
    z.object({ id: z.string(), since: epochMs, until: epochMs }),
    z.object({
      id: z.string(),
      since: epochMs,
      child: z.object({ session: id<SessionId>(), message: id<MessageId>() }),
    }),
  ]),
);

const manifestRef = onFirstUse(() =>
  z.object({
    id: z.string(),
    sha256: z.string(),
    workspace: id<WorkspaceId>().exactOptional(),
  }),
);

const effect = onFirstUse(() =>
  z.object({
    files: z.array(
      z.object({
        path: z.string(),
        change: z.enum(changeKinds),
        diff: z.string().exactOptional(),
        bytes: count,
        ...effectEntryFields,
      }),
    ),
    filesLeftOut: count.exactOptional(),
    stateSha256: z.string().exactOptional(),
    exitCode: z.number().int().nullable(),
    output: z.string(),
    hosts: z.array(z.string()),
    durationMs: count,
  }),
);

export const images = onFirstUse(() => z.array(z.object({ mimeType: z.enum(imageTypes), data: z.string() })));

const callTrial = onFirstUse(
  (): z.ZodType<CallTrial> =>
    z.discriminatedUnion('state', [
      z.object({
        state: z.literal('due'),
        session: id<SessionId>().exactOptional(),
        isAgain: z.literal(true).exactOptional(),
      }),
      z.object({
        state: z.literal('tried'),
        session: id<SessionId>(),
        workspace: id<WorkspaceId>(),
        live: z.string().exactOptional(),
        before: manifestRef().exactOptional(),
        after: manifestRef().exactOptional(),
        effect: effect(),
        effectDigest: z.string(),
        outcome: z.union([
          z.object({
            content: z.array(z.custom<ToolContent>((value) => typeof value === 'object' && value !== null)),
            text: z.string(),
            images: images().exactOptional(),
            durationMs: count,
          }),
          z.object({ code: z.string(), message: z.string() }),
        ]),
      }),
      z.object({ state: z.literal('untried'), reason: z.string() }),
    ]),
);

const toolCall = onFirstUse(() =>
  z.object({
    ...askedCall().shape,
    // A call from before calls had these fields is decided without them.
    digest: z.string().default(''),
    askedAt: z.string().default(new Date(0).toISOString()),
    edited: z.object({ args: jsonObject, digest: z.string() }).exactOptional(),
    grant: z.string().exactOptional(),
    route: toolRoute().exactOptional(),
    status: z.enum(callStatuses),
    askedHuman: z.boolean(),
    generation: count.exactOptional(),
    unsent: z.object({ notice: z.string().exactOptional() }).exactOptional(),
    wait: callWait().exactOptional(),
    trial: callTrial().exactOptional(),
    rejection: z.string().exactOptional(),
  }),
);

const runningTurn = onFirstUse(() =>
  z.object({
    turnId: id<TurnId>(),
    messageId: id<MessageId>(),
    step: count,
    usage: usage(),
    spentUsd: usd.default(0),
    policy: z.object({ mode: approvals, grants: grants(), effects: effectPolicy().exactOptional() }),
    repetition: z.object({ calls: z.string(), times: count }).exactOptional(),
    knowsLoss: z.literal(true).exactOptional(),
    knowsLossOf: count.exactOptional(),
    unsaved: z
      .object({
        generation: count,
        areLost: z.literal(true).exactOptional(),
        isUntried: z.literal(true).exactOptional(),
      })
      .exactOptional(),
    model: z.string().exactOptional(),
    runtime: z
      .object({
        name: z.enum(agentRuntimes),
        starts: count,
        generation: count.exactOptional(),
        taken: count,
        replies: z.array(
          z.object({ permission: z.string(), approved: z.boolean(), reason: z.string().exactOptional() }),
        ),
      })
      .exactOptional(),
  }),
);

/** The newest decision of a session in the audit log. */
export const tokenMeasure = onFirstUse(
  (): z.ZodType<TokenMeasure> => z.object({ estimated: count, counted: count }),
);

/** By the index of the message. */
export const historyParts = onFirstUse(() => z.record(z.string(), count));

export const chainHead = onFirstUse(() => z.object({ index: count, hash: z.string(), at: count.optional() }));

export const turnState = onFirstUse(
  (): z.ZodType<TurnState> =>
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('idle') }),
      z.object({ kind: z.literal('thinking'), ...runningTurn().shape }),
      z.object({ kind: z.literal('deciding'), ...runningTurn().shape, calls: z.array(toolCall()) }),
      z.object({ kind: z.literal('acting'), ...runningTurn().shape, calls: z.array(toolCall()) }),
      z.object({
        kind: z.literal('done'),
        turnId: id<TurnId>(),
        stopReason: z.enum(stopReasons),
        failed: z.object({ messageId: id<MessageId>(), model: z.string().exactOptional() }).exactOptional(),
      }),
    ]),
);
