/**
 * Invariants that hold with every write: those of docs/spec, as far as they show in the table, in the sandboxes and in
 * what users are told. Each concern has a checker of its own; this module calls them. `leak-checks.ts` has the invariants
 * that hold in the end.
 */
import type { LogEvent } from '#shared/domain/event-log.ts';
import type { ConnectionId } from '#shared/domain/ids.ts';
import { clocksApartMsMax } from '#shared/domain/limits.ts';
import { isPoolEntry } from '#shared/domain/pool.ts';
import { greetMsMax } from '#shared/domain/subscriber.ts';
import { ApprovalChecker } from './approval-checker.ts';
import type { CheckerOptions } from './checker-options.ts';
import { DetachedChecker } from './detached-checker.ts';
import { EndChecker } from './end-checker.ts';
import { GrantChecker } from './grant-checker.ts';
import type { Invocation } from './invocation.ts';
import { LogChecker } from './log-checker.ts';
import { LossNoticeChecker } from './loss-notice-checker.ts';
import type { Change } from './memory-table.ts';
import { MeterChecker } from './meter-checker.ts';
import { MoneyChecker } from './money-checker.ts';
import { RelayChecker } from './relay-checker.ts';
import { checkRules } from './rule-checker.ts';
import { SandboxChecker } from './sandbox-checker.ts';
import { SessionChecker } from './session-checker.ts';
import { SlotChecker } from './slot-checker.ts';
import { eventOf, rememberParts, stateOf } from './stored.ts';
import { SessionTreeChecker, type Turned } from './tree-checker.ts';
import { TurnChecker } from './turn-checker.ts';
import { UsageChecker } from './usage-checker.ts';
import { WakeChecker } from './wake-checker.ts';

/** A cancel asks the holder of the turn: the turn itself is as it was. */
const isOnlyAsked = ({ before, after }: Change): boolean => {
  if (after?.['cancelAsked'] !== true) return false;
  const { cancelAsked: _, ...now } = after;
  const { cancelAsked: __, ...was } = before ?? {};
  return JSON.stringify(now) === JSON.stringify(was);
};

export class Checkers {
  readonly #options: CheckerOptions;
  readonly log: LogChecker;
  readonly turns: TurnChecker;
  readonly sandboxes: SandboxChecker;
  readonly #sessions: SessionChecker;
  readonly #slots: SlotChecker;
  readonly #tree: SessionTreeChecker;
  readonly #money: MoneyChecker;
  readonly #meters: MeterChecker;
  readonly wakes: WakeChecker;
  readonly ends: EndChecker;
  readonly #losses: LossNoticeChecker;
  readonly #approvals: ApprovalChecker;
  readonly #detached: DetachedChecker;
  readonly relays: RelayChecker;
  readonly grants: GrantChecker;
  readonly usage: UsageChecker;

  constructor(options: CheckerOptions) {
    this.#options = options;
    this.log = new LogChecker(options.sim);
    this.turns = new TurnChecker(options, this.log);
    this.sandboxes = new SandboxChecker(options, this.turns);
    this.#sessions = new SessionChecker(options);
    this.#slots = new SlotChecker(options);
    this.#tree = new SessionTreeChecker(options, this.log);
    this.#money = new MoneyChecker(options);
    this.#meters = new MeterChecker(options);
    this.wakes = new WakeChecker(options, this.log);
    this.#approvals = new ApprovalChecker(options);
    this.ends = new EndChecker(options);
    this.#losses = new LossNoticeChecker(options);
    this.#detached = new DetachedChecker(options);
    this.relays = new RelayChecker(options);
    this.grants = new GrantChecker(options);
    this.usage = new UsageChecker(options);
  }

  wrote(all: readonly Change[], by: Invocation): void {
    const changes = all.filter((change) => !isOnlyAsked(change));
    const sessions = new Set<string>();
    rememberParts(this.#options.table, changes);
    for (const change of changes) {
      const at = change.pk.indexOf('#');
      const [kind, id] = [change.pk.slice(0, at), change.pk.slice(at + 1)];
      if (kind === 'SESSION') sessions.add(id);
      else if (kind === 'SLOTS') this.#slots.slots(id, change);
      else if (kind === 'WORKSPACE') this.#workspace(id, change);
    }
    for (const id of sessions) {
      const own = changes.filter(({ pk }) => pk === `SESSION#${id}`);
      const turned = this.#session(id, own, by);
      this.grants.wrote(id);
      if (turned === undefined) continue;
      this.#approvals.turn(id, { ...turned, changes });
      checkRules(this.#options, id, { ...turned, changes });
    }
    this.#tree.wrote(changes);
    this.#money.wrote(changes);
    this.#meters.wrote(changes);
    for (const id of sessions) this.wakes.wrote(id);
  }

  #workspace(id: string, change: Change): void {
    if (change.sk.startsWith('CLAIM#')) this.sandboxes.claimed(id, change);
    if (change.sk !== 'META') return;
    this.sandboxes.workspace(id, change);
    this.#slots.workspace(id, change.after);
    if (isPoolEntry(id as never)) return;
    this.ends.workspace(change);
    this.#losses.workspace(change);
  }

  #session(id: string, changes: readonly Change[], by: Invocation): Turned | undefined {
    const meta = changes.find(({ sk }) => sk === 'META');
    const turn = changes.find((change) => change.sk === 'TURN');
    this.#accepted(id, changes);
    const written = changes.filter(({ sk, after }) => sk.startsWith('EVENT#') && after !== undefined);
    this.#sessions.numbers(id, written, meta);
    if (turn?.after !== undefined) this.turns.turn(id, turn, this.#sessions.fenceOf(by, id));
    if (turn?.after !== undefined) this.#detached.wrote(id);
    if (meta !== undefined) this.#sessions.meta(id, meta, by);
    if (meta?.after !== undefined) this.#slots.session(id, meta.after);
    if (meta !== undefined) this.#tree.born(meta, (parent) => this.#sessions.fenceOf(by, parent));
    const events = written.map(({ after: item }) => eventOf(item ?? {}));
    const turned = turn?.after && { old: stateOf(turn.before), state: stateOf(turn.after), events };
    for (const event of events) this.#said(id, event, turned);
    if (by.isAlive && events.some(({ type }) => type === 'completion')) this.wakes.completed(id);
    if (meta !== undefined) this.usage.made(id, meta);
    if (turned !== undefined) this.usage.turn(id, turned, by);
    if (turned !== undefined) this.#tree.turn(id, turned);
    if (turned !== undefined) this.#losses.turn(id, turned, changes);
    if (turned !== undefined) this.#options.sim.coverage.hit(`turn/${turned.old.kind}→${turned.state.kind}`);
    return turned;
  }

  #accepted(id: string, changes: readonly Change[]): void {
    for (const { sk, before, after } of changes)
      if (before === undefined && after !== undefined && sk.startsWith('ACCEPTED#'))
        this.log.accepted(id, sk.slice('ACCEPTED#'.length));
      else if (before === undefined && sk.startsWith('INBOX#')) this.turns.came(id, sk);
  }

  #said(id: string, event: LogEvent, turned: Turned | undefined): void {
    this.log.said(id, event);
    this.grants.said(id, event);
    if (event.type === 'message' && event.data.role === 'user') this.turns.begins(id, event.data.messageId);
    if (event.type === 'tool:approval_required') this.turns.asked(id, event.data.callId, turned?.state);
    if (event.type === 'tool:output' && turned !== undefined) this.turns.output(id, event.data, turned.old);
    if (event.type === 'system' && event.data.kind === 'sandbox_stopped') this.ends.told(id);
    if (event.type === 'completion') this.sandboxes.saved(id, event.data);
  }

  /** The first frame of a client: its greeting, or why it gets none; where its greeter died, any, after a while. */
  first(connection: ConnectionId, text: string): void {
    const { table, sim } = this.#options;
    const { type } = JSON.parse(text);
    if (type === 'system:ready' || type === 'error') return;
    const connectedAt = table.get(`CONNECTION#${connection}`, 'META')?.['connectedAt'];
    if (sim.now() - Number(connectedAt) < greetMsMax - clocksApartMsMax)
      sim.violate('nothing arrives before the greeting', `${connection} ${text}`);
  }

  /** A frame is posted to a client: what was told is in the log. */
  told(text: string): void {
    const { type, seq, sessionId, data } = JSON.parse(text);
    if (seq === null) return;
    const { table, sim } = this.#options;
    if (table.get(`SESSION#${sessionId}`, 'META') === undefined) return;
    const item = table.get(`SESSION#${sessionId}`, `EVENT#${String(seq).padStart(12, '0')}`);
    const entry = item && JSON.parse(String(item['entry']));
    // A frame has less room than the log.
    const isSame = data.truncated === true || JSON.stringify(entry?.data) === JSON.stringify(data);
    if (entry?.type !== type || !isSame)
      sim.violate('what is told is in the log', `${sessionId} ${seq} ${type}`);
  }
}
