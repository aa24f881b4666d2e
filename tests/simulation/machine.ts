/**
 * A sandbox as the platform meets it: a server with a bearer, a workspace of lines, and calls that it remembers
 * by their key. A call appends one line when it begins, so that a call performed twice is seen twice.
 */
import type { AskedOutcome, ToolOutcome } from '#shared/ports/sandbox.ts';
import { longText } from './long-text.ts';
import { RelayInSandbox } from './relay-in-sandbox.ts';
import type { Simulation } from './world.ts';

export type Line = string;

/** The call that a key of a trial is for, and the session that tries it; undefined for another key. */
export const triedBy = (callKey: string): { readonly session: string; readonly key: string } | undefined => {
  const [session = '', trial = ''] = callKey.split('/');
  return trial.startsWith('trial:') ? { session, key: trial.replace('trial:', 'tool:') } : undefined;
};

/** The key under which a session tries a call. */
export const trialKey = (session: string, key: string): string =>
  `${session}/${key.replace('tool:', 'trial:')}`;
type Waiter = (outcome: AskedOutcome) => void;
type Call = { outcome?: ToolOutcome; isCancelled: boolean; readonly waiters: Set<Waiter> };

export type Performed = {
  /** Times it began, in any task. */
  times: number;
  /** The task in which it began. */
  readonly taskArn: string;
  end?: ToolOutcome;
};

/** Everything that was ever performed, by call key. */
export type Ledger = Map<string, Performed>;

export type MachineOptions = {
  readonly sim: Simulation;
  readonly ledger: Ledger;
  readonly taskArn: string;
  readonly bearer: string;
  /** Before a call begins: whether it may. */
  readonly onBegin: (callKey: string, taskArn: string) => void;
};

const lost: ToolOutcome = { status: 'lost', message: 'the connection broke' };
const linkBreakMsMax = 20_000;
const callMsMax = 40_000;
/** In a sandbox with a network: longer than a holder of its relay serves before it hands over. */
const networkCallMsMax = 90_000;
const slowShare = 0.15;
const slowNetworkShare = 0.4;
const quickCallMs = 5;
/** Longer than such a call may take: the platform kills it. */
const longCallMs = 120_000;
const longResultBytesMax = 600_000;

export class Machine {
  isUp = false;
  readonly taskArn: string;
  readonly relay: RelayInSandbox;
  bearer: string;
  lines: readonly Line[] = [];
  /** The number of the last restore that it took. */
  restores = 0;
  readonly #calls = new Map<string, Call>();
  readonly #options: MachineOptions;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.bearer = options.bearer;
    this.taskArn = options.taskArn;
    this.relay = new RelayInSandbox(options.sim, () => this.running.length > 0);
  }

  get running(): readonly string[] {
    return [...this.#calls].filter(([, call]) => call.outcome === undefined).map(([key]) => key);
  }

  die(): void {
    this.isUp = false;
    for (const call of this.#calls.values()) {
      for (const tell of call.waiters) tell(lost);
      call.waiters.clear();
    }
  }

  /** It has begun, or was cancelled before. */
  knows(callKey: string): boolean {
    return this.#calls.has(callKey);
  }

  /** Begins it, or listens to the one that runs, for so long, or gives what it gave. */
  ask(callKey: string, answer: Waiter, waitMs?: number): void {
    const { sim } = this.#options;
    const known = this.#calls.get(callKey) ?? this.#begin(callKey);
    if (known.outcome !== undefined) {
      answer(known.outcome);
      return;
    }
    let isHeard = false;
    const once = (outcome: AskedOutcome): void => {
      if (isHeard) return;
      isHeard = true;
      known.waiters.delete(once);
      answer(outcome);
    };
    known.waiters.add(once);
    if (waitMs !== undefined) sim.after(waitMs, () => once({ status: 'running' }));
    if (sim.fires('linkBreaks')) sim.after(sim.random.spread(10, linkBreakMsMax), () => once(lost));
  }

  cancel(callKey: string): void {
    const known = this.#calls.get(callKey);
    if (known === undefined) {
      this.#calls.set(callKey, { outcome: cancelled, isCancelled: true, waiters: new Set() });
    } else if (known.outcome === undefined) {
      this.#end(callKey, known, cancelled);
    }
  }

  #begin(callKey: string): Call {
    const { sim, ledger, taskArn, onBegin } = this.#options;
    const call: Call = { isCancelled: false, waiters: new Set() };
    this.#calls.set(callKey, call);
    onBegin(callKey, taskArn);
    const before = ledger.get(callKey);
    if (before === undefined) ledger.set(callKey, { times: 1, taskArn });
    else before.times += 1;
    sim.note(taskArn, `performs ${callKey}`);
    if ((before?.times ?? 0) > 1) sim.violate('no call is performed twice', callKey);
    this.lines = [...this.lines, triedBy(callKey)?.key ?? callKey];
    sim.after(this.#takesMs(), () => {
      if (this.isUp)
        this.#end(callKey, call, sim.random.chance(0.1) ? failed : finished(callKey, this.#more()));
    });
    return call;
  }

  #takesMs(): number {
    const { random, further, hasLongCalls, hasNetwork, isCalm } = this.#options.sim;
    const isSlow = random.chance(hasNetwork ? slowNetworkShare : slowShare);
    const slowMsMax = hasNetwork ? networkCallMsMax : callMsMax;
    const takesMs = isSlow ? random.spread(2000, slowMsMax) : random.int(5, 800);
    if (!hasLongCalls) return takesMs;
    // In the end everybody has an answer soon: a call that is detached takes a minute at least.
    if (isCalm) return quickCallMs;
    return further.chance(0.1) ? takesMs + longCallMs : takesMs;
  }

  #more(): string {
    const { further, isBig } = this.#options.sim;
    return isBig && further.chance(0.3) ? longText(further, longResultBytesMax) : '';
  }

  #end(callKey: string, call: Call, outcome: ToolOutcome): void {
    if (call.outcome !== undefined) return;
    call.outcome = outcome;
    const performed = this.#options.ledger.get(callKey);
    if (performed !== undefined) performed.end = outcome;
    for (const tell of [...call.waiters]) tell(outcome);
    call.waiters.clear();
  }
}

export const finishedText = (callKey: string): string => `performed ${callKey}`;
const finished = (callKey: string, more: string): ToolOutcome => ({
  status: 'finished',
  content: [{ type: 'text', text: `${finishedText(callKey)}${more}` }],
  structured: { key: callKey },
});
const failed: ToolOutcome = { status: 'failed', code: 'execution_timeout', message: 'it took too long' };
const cancelled: ToolOutcome = { status: 'failed', code: 'invalid_request', message: 'it was cancelled' };
