/**
 * A message of a program inside a sandbox to an agent: a child of its session, new or already started; never another session.
 *
 * A child is counted in the tree and spends the tree's money like one that an agent starts, and its approvals are at least as strict
 * as its parent's (PS2). It is made without its parent's lease, which a turn may hold: the parent must not have moved since it was
 * read, so that none of its spending is missed.
 */

import type { ChildPart } from '../../contracts/tools/slice-fields.ts';
import { childSandbox } from '../../domain/child-sandbox.ts';
import type { Flavor } from '../../domain/flavor.ts';
import { idleLimit, type Lifetimes } from '../../domain/idle-time.ts';
import type { MessageId, SessionId } from '../../domain/ids.ts';
import { isWeaker } from '../../domain/relay/sandbox-rights.ts';
import { type ApprovalMode, isEnded, type Session } from '../../domain/session.ts';
import { limitsInForceFor, type TreeLimits } from '../../domain/session-tree.ts';
import { grantsInForce } from '../../domain/turn/approval-policy.ts';
import { AppError } from '../../errors.ts';
import { sessionNotFound } from '../access/find-session.ts';
import type { Deps, SandboxDeps } from '../deps.ts';
import { type KnownTemplates, knownTemplate } from '../sandbox/known-template.ts';
import { refuseUnpriced } from '../turn/children/child-model.ts';
import { spawnChild } from '../turn/children/spawn-child.ts';
import { offerMessage } from '../turn/requests/accept-message.ts';
import { changesTooOften, raceLost, untilWon } from '../write-race.ts';
import { type Standing, sentBefore } from './await-completion.ts';
import { descendantsOf } from './show-tree.ts';

type ProgramDeps = SandboxDeps & Deps<'modelPrices' | 'trees'>;

export type SandboxMessage = {
  readonly text: string;
  /** Of a descendant; absent: a new child. */
  readonly to?: string | undefined;
  /** Repeated with the same id, it has no effect. */
  readonly messageId?: string | undefined;
  readonly model?: string | undefined;
  readonly approvals?: ApprovalMode | undefined;
  readonly workspace: 'shared' | 'own';
  readonly template?: string | undefined;
  readonly flavor?: Flavor | undefined;
  readonly env?: readonly string[] | undefined;
  /** Of a new child: its part of the budget. */
  readonly part?: ChildPart | undefined;
  readonly limits: Required<TreeLimits>;
  readonly lifetimes: Lifetimes;
  readonly templates?: KnownTemplates | undefined;
};

export type SentMessage = {
  readonly session: SessionId;
  readonly message: MessageId;
  readonly isSpawned: boolean;
  /** The log up to here has nothing about the message. */
  readonly lastIndex: number;
  /** Of a message to a named session that was sent before: the log may have its answer. */
  readonly standing?: Standing;
};

export const messageFromSandbox = async (
  ports: ProgramDeps,
  session: Session,
  message: SandboxMessage,
): Promise<SentMessage> =>
  message.to === undefined ? spawn(ports, session, message) : tell(ports, session, message);

/** A session that is not below this one is answered like one that does not exist. */
export const descendantNamed = async (
  { sessions }: Pick<SandboxDeps, 'sessions'>,
  session: Session,
  id: string,
): Promise<Session> => {
  const found = (await descendantsOf(sessions, session)).find((one) => one.id === id);
  if (found === undefined) throw sessionNotFound();
  return found;
};

const tell = async (
  ports: ProgramDeps,
  session: Session,
  { to = '', text, messageId, model }: SandboxMessage,
): Promise<SentMessage> => {
  const child = await descendantNamed(ports, session, to);
  refuseUnpriced(ports, { caller: session, child }, model);
  const offered = await offerMessage(ports, child, { text, messageId, model });
  if (offered.result === 'ended')
    throw new AppError('invalid_session_state', `session ${child.id} is ${child.status}`, {
      suggestions: ['Start another: leave session_id out.'],
    });
  const sent = { session: child.id, message: offered.messageId, isSpawned: false };
  if (offered.result === 'accepted') return { ...sent, lastIndex: child.lastSeq };
  const { standing, since } = await sentBefore(ports, child, offered.messageId);
  return { ...sent, standing, lastIndex: since };
};

const spawn = async (ports: ProgramDeps, { id }: Session, message: SandboxMessage): Promise<SentMessage> => {
  const key = `sandbox\n${message.messageId ?? ports.world.uuid()}`;
  // The parent's turn may move it at any moment.
  const started = await untilWon(
    async () => (await spawnUnder(ports, id, { ...message, key })) ?? raceLost,
    changesTooOften('the session'),
  );
  return { ...started, isSpawned: true, lastIndex: -1 };
};

const spawnUnder = async (
  ports: ProgramDeps,
  id: SessionId,
  { key, text: prompt, approvals, limits, lifetimes, ...message }: SandboxMessage & { readonly key: string },
) => {
  const found = await ports.turns.getWithTurn(id);
  if (found === undefined) throw sessionNotFound();
  const { session: parent, turn } = found;
  refuseChildOf(parent);
  refuseUnpriced(ports, { caller: parent }, message.model);
  if (message.template !== undefined) knownTemplate(message.template, message.templates);
  const sandbox = childSandbox(parent, message);
  if (!sandbox.ok) throw new AppError('invalid_request', sandbox.problem);
  const { instructions } = await ports.turns.loadWork(id);
  return spawnChild(ports, {
    ...{ parent, key, prompt, model: message.model, workspace: message.workspace, instructions },
    sandbox: sandbox.sandbox,
    policy: policyFor(parent, approvals, grantsInForce(parent, turn)),
    limits: limitsInForceFor(parent, limits),
    idleMs: idleLimit(parent, lifetimes),
    ...(message.part === undefined ? {} : { part: message.part }),
    isUnleased: true,
  });
};

const refuseChildOf = ({ kind, status }: Session): void => {
  if (kind !== 'agent')
    throw new AppError('invalid_session_state', 'only the session of an agent starts others');
  if (isEnded(status)) throw new AppError('invalid_session_state', `the session is ${status}`);
};

/** The parent's grants hold for a child with its parent's mode alone. */
const policyFor = (
  parent: Session,
  asked: ApprovalMode = parent.approvals,
  grants: Session['grants'],
): { readonly mode: ApprovalMode; readonly grants: Session['grants'] } => {
  if (isWeaker(asked, parent.approvals))
    throw new AppError(
      'forbidden',
      `approvals: at least as strict as those of this session, ${parent.approvals}`,
    );
  return { mode: asked, grants: asked === parent.approvals ? grants : [] };
};
