/**
 * Session trees, with every write (docs/spec/children.md): CH1, CH2, and of CH3 that a call that waits for
 * a child ends once and by what the child's log says. The model names every spawn by a model of its own and every prompt
 * by a text of its own (`model.ts`), so that a second child or message of one call is seen.
 */
import type { LogEvent } from '#shared/domain/event-log.ts';
import { isEnded, type Session } from '#shared/domain/session.ts';
import { callsWithChildren } from '#shared/domain/turn/pending-work.ts';
import type { TurnState } from '#shared/domain/turn/turn.ts';
import type { CheckerOptions } from './checker-options.ts';
import type { LogChecker } from './log-checker.ts';
import type { Change } from './memory-table.ts';
import { promptOfAgents } from './session-calls.ts';
import { callsOf, sessionOf, treeItemOf, turnOf } from './stored.ts';

type Waiting = ReturnType<typeof callsWithChildren>[number];
type End = Extract<LogEvent, { type: 'tool:output' | 'agent:error' }>;

const comparedCharacters = 1000;

const answers: readonly string[] = ['end_turn', 'max_tokens'];

export class SessionTreeChecker {
  readonly #options: CheckerOptions;
  readonly #log: LogChecker;
  readonly #spawns = new Set<string>();
  readonly #prompts = new Set<string>();
  readonly #ended = new Set<string>();

  constructor(options: CheckerOptions, log: LogChecker) {
    this.#options = options;
    this.#log = log;
  }

  #violate(checker: string, what: string): void {
    this.#options.sim.violate(checker, what);
  }

  wrote(changes: readonly Change[]): void {
    for (const { sk, before, after } of changes) {
      const text = String(after?.['text'] ?? '');
      if (!sk.startsWith('INBOX#') || before !== undefined || !text.startsWith(promptOfAgents)) continue;
      if (this.#prompts.has(text)) this.#violate('CH1: a call says its message once', text);
      this.#prompts.add(text);
    }
  }

  /** The fence is that of the lease which whoever wrote it took last. */
  born({ before, after }: Change, fenceOf: (session: string) => number | undefined): void {
    const child = after as unknown as Session | undefined;
    if (before !== undefined || child?.tree === undefined) return;
    const { table } = this.#options;
    const { id, model, tree: membership } = child;
    if (this.#spawns.has(model)) this.#violate('CH1: a call starts at most one child', `${id} by ${model}`);
    this.#spawns.add(model);
    const parent = sessionOf(table, membership.parent);
    if (parent === undefined || isEnded(parent.status))
      this.#violate('CH2: a child is made while its parent lives', `${id} of ${membership.parent}`);
    else this.#stands(child, parent);
    if (fenceOf(membership.parent) !== table.get(`SESSION#${membership.parent}`, 'META')?.['leaseFence'])
      this.#violate('CH2: a child is made by who holds its parent’s lease', `${id} of ${membership.parent}`);
    const call = callsOf(turnOf(table, membership.parent)).find(({ args }) => args['model'] === model);
    if (call !== undefined && call.status !== 'approved')
      this.#violate('CH1: a child is made by a call that runs', `${id} by ${call.key}, ${call.status}`);
  }

  #stands({ id, depth, tree: membership }: Session, parent: Session): void {
    const { table, tree } = this.#options;
    const root = parent.tree?.root ?? parent.id;
    if (membership?.root !== root || depth !== parent.depth + 1 || depth > tree.recursionDepthMax)
      this.#violate('CH2: a child stands under its parent, within the depth', `${id}: ${depth}`);
    const agents = table.startingWith(`SESSION#${root}`, 'CHILD#').length + 1;
    if (agents > tree.agentsPerSessionMax)
      this.#violate('CH2: no more agents than the limit', `${root}: ${agents}`);
    if (treeItemOf(table, root)?.agents !== agents)
      this.#violate('CH2: the agents of a tree are counted', `${root}: ${agents}`);
  }

  turn(id: string, { old, state, events }: Turned): void {
    const before = new Map(callsOf(old).map((call) => [call.key, call]));
    for (const { key, wait } of callsOf(state))
      if (wait !== undefined && 'child' in wait && before.get(key)?.wait === undefined) {
        const { session, message } = wait.child;
        const isOwn = sessionOf(this.#options.table, session)?.tree?.parent === id;
        if (!isOwn || !this.#log.wasAccepted(session, message))
          this.#violate('CH3: who waits for a child has asked its own', `${id}: ${key}`);
      }
    // A turn that is cancelled, or that no function continues, ends with all that it waits for.
    if (state.kind === 'done' && (state.stopReason === 'cancelled' || state.stopReason === 'error')) return;
    const open = new Set(callsWithChildren(state).map(({ callId }) => callId));
    for (const call of callsWithChildren(old).filter(({ callId }) => !open.has(callId))) {
      const end = events.find((event): event is End => isEndOf(event, call));
      this.#ends(`${id} ${'turnId' in old ? old.turnId : ''} ${call.callId}`, call, end);
    }
  }

  /** CH3. */
  #ends(key: string, { wait }: Waiting, end: End | undefined): void {
    const { session: id, message } = wait.child;
    if (this.#ended.has(key)) this.#violate('CH3: a call that waits for a child ends once', key);
    this.#ended.add(key);
    const outcome = this.#log.answerOf(id, message);
    const isAnswer = outcome !== undefined && answers.includes(outcome.stopReason);
    if (end?.type === 'tool:output') {
      const text = end.data.content[0]?.['text'];
      // A long answer is cut in its middle.
      const expected = `session_id: ${id}\n${outcome?.text}`.slice(0, comparedCharacters);
      if (!isAnswer || String(text).slice(0, comparedCharacters) !== expected)
        this.#violate('CH3: an answer is that of the child', `${key}: ${text}`);
      return;
    }
    const session = sessionOf(this.#options.table, id);
    const isOver = session === undefined || isEnded(session.status);
    if (isAnswer || (outcome === undefined && !isOver))
      this.#violate('CH3: what a child says is heard', `${key}: ${end?.data.message}`);
  }
}

export type Turned = {
  readonly old: TurnState;
  readonly state: TurnState;
  readonly events: readonly LogEvent[];
};

const isEndOf = (event: LogEvent, { callId }: Waiting): boolean =>
  (event.type === 'tool:output' || event.type === 'agent:error') && event.data.callId === callId;
