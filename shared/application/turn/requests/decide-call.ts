/**
 * Decides one waiting call. The decision is a transition of the turn under its version: made twice, or by two people at
 * once, it counts once. Its audit row is written with it (AP3); a refused decision has one, too.
 */

import { isCutForSocket } from '../../../contracts/frames.ts';
import { argumentsProblem } from '../../../contracts/tools/agent-arguments.ts';
import { filesIdOf } from '../../../domain/checkpoint.ts';
import type { Json, JsonObject } from '../../../domain/json.ts';
import { callIdCharactersMax } from '../../../domain/limits.ts';
import { deciderOf, type Principal } from '../../../domain/principal.ts';
import { toolIdentity } from '../../../domain/requested-call.ts';
import type { Session } from '../../../domain/session.ts';
import { approvalRequest } from '../../../domain/turn/call-queue.ts';
import {
  type Decision,
  decidedEvent,
  firstOffered,
  judgeDecision,
} from '../../../domain/turn/judge-decision.ts';
import type { ToolCall } from '../../../domain/turn/tool-call.ts';
import type { Deciding, TurnEvent, TurnLimits, TurnState } from '../../../domain/turn/turn.ts';
import { digestText, waitingCall } from '../../../domain/turn/waiting-call.ts';
import { AppError, isAppError } from '../../../errors.ts';
import type { Telemetry } from '../../../ports/telemetry.ts';
import { type AuditEntry, audit, auditRow, recordAudit } from '../../access/audit.ts';
import type { AuditDeps, MessageDeps } from '../../deps.ts';
import { commitWithoutLease, type FoundTurn } from '../commit/commit-without-lease.ts';
import { noPendingCall } from './complete-delegated-call.ts';
import { discardTrial } from './discard-trial.ts';

export type DecideRequest = {
  /** The id as the client gave it: there may be no such session. */
  readonly sessionId: string;
  readonly callId: string;
  /** Finds it for the principal, or throws: an attempt on another's session is on record, too. */
  readonly find: () => Promise<FoundTurn>;
  /** Read once the session is found: another owner learns nothing from its mistakes. */
  readonly decisionOf: () => Decision;
  readonly principal: Principal;
  /** A rejection may be the turn's last step. */
  readonly limits: TurnLimits;
};

export type Decided = {
  readonly callId: string;
  readonly approved: boolean;
  readonly digest: string;
  readonly editedDigest?: string;
};

type Prepared = { readonly state: Deciding; readonly call: ToolCall; readonly event: DecidedEvent };
type DecidedEvent = Extract<TurnEvent, { type: 'call-decided' }>;

export const decideCall = async (
  ports: MessageDeps & AuditDeps,
  request: DecideRequest,
): Promise<Decided> => {
  let known: Known = {};
  try {
    const found = await request.find();
    known = { session: found.session };
    const decision = request.decisionOf();
    known = { ...known, decision };
    return await decide(ports, found, { ...request, decision });
  } catch (error) {
    if (isAppError(error)) {
      const by = asJson(deciderOf(request.principal));
      await audit(ports, request.principal, entryOf(request, known, { refused: error.code, by }));
    }
    throw error;
  }
};

/** The facts of a decision before it was made or refused. */
type Known = { readonly session?: Session; readonly decision?: Decision };
type Made = DecideRequest & { readonly decision: Decision };

const decide = async (ports: MessageDeps & AuditDeps, found: FoundTurn, request: Made): Promise<Decided> => {
  const { principal, limits, decision } = request;
  const { session } = found;
  await refuseOutdated(ports, found, request);
  let prepared: Prepared | undefined;
  const rowOf = (done: Prepared) =>
    auditRow(principal, done.event.at, entryOf(request, { session, decision }, detailOf(done)));
  const applied = await commitWithoutLease(ports, found, {
    eventFor: (state, at) => {
      prepared = prepare(ports, state, { ...request, at });
      return prepared.event;
    },
    auditsOf: () => (prepared === undefined ? [] : [rowOf(prepared)]),
    limits,
  });
  if (applied === 'late' || prepared === undefined) throw noPendingCall(decision.callId, firstOffered);
  recordAudit(ports.telemetry, rowOf(prepared));
  const { call, event } = prepared;
  recordDecision(ports.telemetry, session, { call, event });
  if (!event.approved && call.trial?.state === 'tried') await discardTrial(ports, call.trial.session);
  return {
    callId: call.callId,
    approved: event.approved,
    digest: call.digest,
    ...(event.edited === undefined ? {} : { editedDigest: event.edited.digest }),
  };
};

/** Nothing is approved that was tried on other files than the workspace has: it is tried and asked again. */
const refuseOutdated = async (
  ports: MessageDeps & AuditDeps,
  found: FoundTurn,
  request: Made,
): Promise<void> => {
  const { trial, callId } = waitingCall(found.turn.state) ?? {};
  if (trial?.state !== 'tried' || callId !== request.callId || !request.decision.approved) return;
  prepare(ports, found.turn.state, { ...request, at: ports.world.now() });
  const checkpoint = (await ports.workspaces.get(found.session.workspace))?.checkpoint;
  const files = checkpoint && filesIdOf(checkpoint);
  // A trial of a release before names the checkpoint itself.
  if (files === trial.live || checkpoint?.id === trial.live) return;
  const { limits } = request;
  const outdated = await commitWithoutLease(ports, found, {
    eventFor: (state, at) => {
      const waiting = waitingCall(state);
      const isSame = waiting?.trial?.state === 'tried' && waiting.trial.session === trial.session;
      return isSame ? { type: 'trial-outdated', at, callId } : undefined;
    },
    limits,
  });
  if (outdated === 'applied') await discardTrial(ports, trial.session);
  throw new AppError('conflict', 'the workspace has changed since the call was tried; nothing was applied', {
    suggestions: ['The call is tried again, and asks for approval with a new effectDigest.'],
  });
};

/** Records how long a decided call had waited since the model asked it. */
const recordDecision = (
  telemetry: Telemetry,
  { id: sessionId, project }: Session,
  { call: { callId, digest, askedAt }, event: { approved, by, at } }: Pick<Prepared, 'call' | 'event'>,
): void => {
  const waitedMs = Math.max(0, at - Date.parse(askedAt));
  telemetry.duration('ApprovalWaitMs', waitedMs);
  telemetry.info('a call was decided', {
    event: 'approval_decided',
    ...{ sessionId, project, callId, digest, approved, by: by.id, waitedMs },
  });
};

/** Characters of a name that a client gave: it may be anything. */
const namedCharactersMax = 64;

/** With the facts that the decision claimed; those of the call replace them. */
const entryOf = (
  request: Pick<DecideRequest, 'sessionId' | 'callId'>,
  { session, decision }: Known,
  detail: JsonObject,
): AuditEntry => {
  const sessionId = session?.id ?? request.sessionId.slice(0, namedCharactersMax);
  const { approved, digest, turnId } = decision ?? {};
  return {
    action: 'approval.decide',
    subject: sessionId,
    project: session?.project,
    detail: {
      sessionId,
      callId: request.callId.slice(0, callIdCharactersMax),
      ...(approved === undefined ? {} : { approved }),
      ...(digest === undefined ? {} : { digest }),
      ...(turnId === undefined ? {} : { turnId }),
      ...detail,
    },
  };
};

/** Throws the reason to refuse it. */
const prepare = (
  { world }: MessageDeps & AuditDeps,
  state: TurnState,
  { decision, principal, at }: Made & { readonly at: number },
): Prepared => {
  const judged = judgeDecision(state, decision, ({ turnId, calls }, call) =>
    isCutForSocket(approvalRequest(turnId, call, calls)),
  );
  if ('refusal' in judged) {
    const { code, message, suggestion } = judged.refusal;
    throw new AppError(code, message, { suggestions: [suggestion] });
  }
  const { call } = judged;
  const { turnId } = judged.state;
  const { args } = decision;
  refuseUnfit(call, args);
  const event = decidedEvent(call, decision, {
    at,
    by: deciderOf(principal),
    editedDigest: args && world.sha256(digestText({ turnId, callId: call.callId, name: call.name, args })),
    grantId: world.uuid(),
    identity: toolIdentity(call),
  });
  return { ...judged, event };
};

/** Changed arguments are checked as the model's are, before anything of them is on record. */
const refuseUnfit = ({ name, route }: ToolCall, args: JsonObject | undefined): void => {
  const isOwn = route === undefined || route.kind === 'platform';
  const problem = args !== undefined && isOwn ? argumentsProblem(name, args) : undefined;
  if (problem !== undefined)
    throw new AppError('invalid_request', `args: ${problem}`, {
      suggestions: ['Change the arguments to ones that the tool accepts. The call still waits.'],
    });
};

const detailOf = ({ state, call, event }: Prepared): JsonObject => ({
  turnId: state.turnId,
  name: call.name,
  digest: call.digest,
  by: asJson(event.by),
  ...(event.edited === undefined ? {} : { editedDigest: event.edited.digest }),
  ...(event.reason === undefined ? {} : { reason: event.reason }),
  ...(call.trial?.state === 'tried' ? { effectDigest: call.trial.effectDigest } : {}),
  ...(event.grant === undefined
    ? {}
    : { grant: event.grant.id, ...(event.grant.prefix === undefined ? {} : { prefix: event.grant.prefix }) }),
});

const asJson = (value: { readonly [key: string]: Json }): JsonObject => ({ ...value });
