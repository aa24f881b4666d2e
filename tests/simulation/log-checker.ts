/**
 * Reads every session's log as it is written: a turn begins with an accepted message, says what it says, and ends
 * with one `completion`, the last thing it says (T8).
 */
import type { LogEvent } from '#shared/domain/event-log.ts';
import type { Simulation } from './world.ts';

type SessionLog = {
  /** The message of the turn that runs. */
  open: string | undefined;
  /** Calls of the running turn that were told as done, and whether a loss was told. */
  lines: string[];
  told: boolean;
  readonly turns: Set<string>;
  /** Completions by accepted message. */
  readonly messages: Map<string, number>;
  /** By message. */
  readonly outcomes: Map<string, Outcome>;
};

export type Outcome = { readonly stopReason: string; readonly text: string };

type Completion = Outcome & { readonly turnId: string };

export class LogChecker {
  readonly #sim: Simulation;
  readonly #sessions = new Map<string, SessionLog>();
  /** The time of the last event of any session. */
  saidAt = 0;

  constructor(sim: Simulation) {
    this.#sim = sim;
  }

  #of(id: string): SessionLog {
    let log = this.#sessions.get(id);
    if (log === undefined) {
      log = {
        open: undefined,
        lines: [],
        told: false,
        turns: new Set(),
        messages: new Map(),
        outcomes: new Map(),
      };
      this.#sessions.set(id, log);
    }
    return log;
  }

  accepted(id: string, messageId: string): void {
    this.#of(id).messages.set(messageId, 0);
  }

  wasAccepted(id: string, messageId: string): boolean {
    return this.#sessions.get(id)?.messages.has(messageId) ?? false;
  }

  /** The outcome of a message; undefined while it is not completed. */
  answerOf(id: string, messageId: string): Outcome | undefined {
    return this.#sessions.get(id)?.outcomes.get(messageId);
  }

  performed(id: string, callKey: string): void {
    this.#of(id).lines.push(callKey);
  }

  /** Takes the finished calls of the turn that ends, and whether a loss was told, once. */
  takeLines(id: string): { readonly keys: readonly string[]; readonly told: boolean } {
    const log = this.#of(id);
    const taken = { keys: log.lines, told: log.told };
    log.lines = [];
    log.told = false;
    return taken;
  }

  said(id: string, event: LogEvent): void {
    const log = this.#of(id);
    this.saidAt = this.#sim.now();
    switch (event.type) {
      case 'system':
        log.told ||= event.data.kind === 'workspace_not_saved' || event.data.kind === 'sandbox_stopped';
        return;
      case 'message':
        if (event.data.role !== 'user') break;
        this.#begins(id, log, event.data.messageId);
        return;
      case 'completion':
        this.#completes(id, log, event.data);
        return;
      default:
    }
    if (log.open === undefined) this.#sim.violate('T8: an ended turn says nothing', `${id}: ${event.type}`);
  }

  #begins(id: string, log: SessionLog, messageId: string): void {
    if (log.open !== undefined) this.#sim.violate('T8: one turn runs at a time', id);
    const completed = log.messages.get(messageId);
    if (completed !== 0) this.#sim.violate('a message is answered once', `${id}: ${messageId}, ${completed}`);
    log.open = messageId;
    log.lines = [];
    log.told = false;
  }

  #completes(id: string, log: SessionLog, { turnId, stopReason, text }: Completion): void {
    if (log.open === undefined) {
      this.#sim.violate('T8: each turn completes once', id);
      return;
    }
    if (log.turns.has(turnId)) this.#sim.violate('T8: a completion is of a turn of its own', id);
    log.turns.add(turnId);
    log.messages.set(log.open, (log.messages.get(log.open) ?? 0) + 1);
    log.outcomes.set(log.open, { stopReason, text });
    log.open = undefined;
  }

  /** Turns of all sessions that ended for this reason. */
  stopped(reason: string): number {
    const outcomes = [...this.#sessions.values()].flatMap(({ outcomes }) => [...outcomes.values()]);
    return outcomes.filter(({ stopReason }) => stopReason === reason).length;
  }

  /** Accepted messages that were not completed exactly once. */
  unanswered(): readonly string[] {
    return [...this.#sessions].flatMap(([id, { messages }]) =>
      [...messages]
        .filter(([, times]) => times !== 1)
        .map(([message, times]) => `${id}: ${message}, ${times} times`),
    );
  }
}
