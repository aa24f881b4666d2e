/** Turns, with every write: versions, calls that end once and run where they were recorded, whole conversations. */
import { messageFrom } from '#shared/adapters/aws/dynamo/history-items.ts';
import type { ToolContent } from '#shared/domain/event-log.ts';
import type { HistoryMessage } from '#shared/domain/history.ts';
import type { ToolCall } from '#shared/domain/turn/tool-call.ts';
import type { TurnState } from '#shared/domain/turn/turn.ts';
import { waitingCall } from '#shared/domain/turn/waiting-call.ts';
import type { CheckerOptions } from './checker-options.ts';
import { brokenHistory } from './conversation.ts';
import type { LogChecker } from './log-checker.ts';
import { finishedText, trialKey } from './machine.ts';
import type { Change, Item } from './memory-table.ts';
import { foundText } from './registry.ts';
import { callsOf, inboxOf, isAtRest, stateOf } from './stored.ts';

type Call = ReturnType<typeof callsOf>[number];

const sameMomentMs = 50;

type Output = { readonly callId: string; readonly content: readonly ToolContent[] };

export class TurnChecker {
  readonly #options: CheckerOptions;
  readonly #log: LogChecker;
  /** The generation a call was recorded to start in, by call key. */
  readonly started = new Map<string, number>();
  readonly rejected = new Set<string>();
  /** The session that tries a call, or has tried it, by call key. */
  readonly #trials = new Map<string, { readonly session: string | undefined; readonly isOver: boolean }>();
  /** Sessions that were recorded to try a call, with its key. */
  readonly #toTry = new Set<string>();
  /** The moment at which a message came, by session and key in the inbox. */
  readonly #came = new Map<string, number>();
  /** Calls outside of sandboxes, by what they carry: how they were recorded, and how often they were performed. */
  readonly #outside = new Map<string, { status: ToolCall['status']; times: number }>();

  /** Messages that were decoded before: an item never changes. */
  readonly #messages = new WeakMap<Item, HistoryMessage>();

  constructor(options: CheckerOptions, log: LogChecker) {
    this.#options = options;
    this.#log = log;
  }

  #violate(checker: string, what: string): void {
    this.#options.sim.violate(checker, what);
  }

  /** The fence is that of the writer's lease, when it took one. */
  turn(id: string, { before, after }: Change, fence: number | undefined): void {
    const [last, next] = [Number(before?.['version'] ?? 0), Number(after?.['version'])];
    if (next !== last + 1) this.#violate('T15: each version is written once', `${id}: ${last} → ${next}`);
    const meta = this.#options.table.get(`SESSION#${id}`, 'META');
    if (fence !== undefined && fence !== meta?.['leaseFence'])
      this.#violate(
        'no commit by a holder whose lease passed',
        `${id}: ${fence}, now ${meta?.['leaseFence']}`,
      );
    const [old, state] = [stateOf(before), stateOf(after)];
    this.#calls(old, state);
    if ('step' in state && state.step > this.#options.stepsMax) this.#violate('T1: steps are bounded', id);
    if (state.kind === 'thinking' || isAtRest(state)) this.#history(id, Number(after?.['historyFrom'] ?? 0));
  }

  #calls(old: TurnState, state: TurnState): void {
    const earlier = new Map(callsOf(old).map((call) => [call.key, call]));
    for (const call of callsOf(state)) this.#call(earlier.get(call.key), call);
  }

  #call(before: Call | undefined, call: Call): void {
    const isClosed = ['completed', 'failed', 'rejected'].includes(before?.status ?? '');
    if (isClosed && before?.status !== call.status)
      this.#violate('T11: what has ended stays ended', call.key);
    if (before?.status === 'executing' && call.status === 'approved')
      this.#options.sim.coverage.hit('call/unsent');
    else if (before?.generation !== undefined && before.generation !== call.generation)
      this.#violate('T13: a call keeps its generation', call.key);
    if (before?.status !== call.status)
      this.#options.sim.coverage.hit(`call/${before?.status ?? 'none'}→${call.status}`);
    this.#trial(before, call);
    if (call.status === 'executing') this.started.set(call.key, call.generation ?? 0);
    if (call.status === 'rejected') this.rejected.add(call.key);
    if (call.route?.kind === 'remote') this.#recorded(String(call.args['id']), call.status);
    if (call.route?.kind === 'platform' && call.route.tool === 'process') this.#input(call);
  }

  #trial({ trial: before }: Partial<Call> = {}, { key, trial }: Call): void {
    if (before?.state !== trial?.state)
      this.#options.sim.coverage.hit(`trial/${before?.state ?? 'none'}→${trial?.state}`);
    if (trial === undefined || trial.state === 'untried') this.#trials.delete(key);
    else this.#trials.set(key, { session: trial.session, isOver: trial.state === 'tried' });
    if (trial?.state === 'due') this.#toTry.add(`${trial.session} ${key}`);
  }

  /** True for a call whose result waits to be applied: it does not run again. */
  isTried(key: string): boolean {
    return this.#trials.get(key)?.isOver === true;
  }

  /** True for a session that was recorded to try a call: the request of a function that was passed over may come late, into its fork. */
  wasToTry(key: string, session: string): boolean {
    return this.#toTry.has(`${session} ${key}`);
  }

  /** AP7: a result comes into the workspace only after its approval. */
  applies(key: string): void {
    if (!this.isTried(key) || !this.started.has(key) || this.rejected.has(key))
      this.#violate('AP7: only an approved result is applied', key);
  }

  #input(call: Call): void {
    if (!call.askedHuman) this.#violate('a person is asked about input to a process', call.key);
    if (call.status === 'executing') this.#options.sim.coverage.hit('call/input');
    this.#recorded(String(call.args['process_id']), call.status);
  }

  #recorded(id: string, status: ToolCall['status']): void {
    this.#outside.set(id, { times: 0, ...this.#outside.get(id), status });
  }

  /** A call is performed outside of every sandbox, where nobody remembers it: T11, T13. */
  performsOutside(id: string): void {
    const call = this.#outside.get(id);
    if (call?.status === 'rejected') this.#violate('T11: a rejected call never runs', id);
    if (call === undefined || call.status === 'pending' || call.status === 'approved')
      this.#violate('a call is recorded as started before it runs', id);
    const times = (call?.times ?? 0) + 1;
    if (times > 1) this.#violate('T13: a call outside the sandbox is sent once', id);
    this.#outside.set(id, { status: call?.status ?? 'pending', times });
  }

  /** A message lies in the inbox from now on. */
  came(id: string, sk: string): void {
    this.#came.set(`${id} ${sk}`, this.#options.sim.now());
  }

  /** The turn of a message begins: none that came before it still waits. */
  begins(id: string, messageId: string): void {
    const { sim, table } = this.#options;
    const waiting = inboxOf(table, id).map(({ sk }) => String(sk));
    const cameAt = (sk: string): number => this.#came.get(`${id} ${sk}`) ?? sim.now();
    const own = waiting.find((sk) => sk.endsWith(`#${messageId}`));
    if (own === undefined) return;
    // One that came at the same moment may not have been seen yet.
    const earlier = waiting.find((sk) => sk < own && cameAt(sk) + sameMomentMs < cameAt(own));
    if (earlier !== undefined)
      this.#violate(
        'messages are answered in the order in which they came',
        `${id}: ${messageId} before ${earlier}`,
      );
  }

  /** T10. */
  #history(id: string, from: number): void {
    const first = `MESSAGE#${String(from).padStart(12, '0')}`;
    const { table } = this.#options;
    const parts = table.startingWith(`SESSION#${id}`, 'MESSAGEPART#');
    const messages = table
      .startingWith(`SESSION#${id}`, 'MESSAGE#')
      .filter(({ sk }) => String(sk) >= first)
      .map((item) => this.#messageOf(item, parts));
    this.#conversation(id, messages);
  }

  #messageOf(item: Item, parts: readonly Item[]): HistoryMessage {
    const message = this.#messages.get(item) ?? messageFrom(item, parts);
    this.#messages.set(item, message);
    return message;
  }

  #conversation(where: string, messages: readonly HistoryMessage[]): void {
    const fault = brokenHistory(messages);
    if (fault !== undefined)
      this.#violate('T10: every call has its result, every result its call', `${where}: ${fault}`);
  }

  modelAsked(history: readonly HistoryMessage[]): void {
    this.#conversation('as the model is asked', history);
  }

  /** Takes the finished calls of the turn that ends, and whether a loss was told, once. */
  takeLines(id: string): { readonly keys: readonly string[]; readonly told: boolean } {
    return this.#log.takeLines(id);
  }

  /** T4. */
  asked(id: string, callId: string, state: TurnState | undefined): void {
    if (state === undefined || waitingCall(state)?.callId !== callId)
      this.#violate('T4: one approval is open, that of the first call that waits', id);
  }

  /** Checks an output; `tree-checker.ts` checks a child's answer. */
  output(id: string, { callId, content }: Output, old: TurnState): void {
    const key = 'step' in old ? `tool:${old.turnId}:${old.step}:${callId}` : '';
    const { route, args = {}, trial } = callsOf(old).find((call) => call.key === key) ?? {};
    const text = content[0]?.['text'];
    if (route?.kind === 'platform') return;
    if (route !== undefined && route.kind !== 'stdio') {
      if (text !== foundText(String(args['id'])))
        this.#violate('an output is that of the call', `${id}: ${key}`);
      return;
    }
    const ranAs = trial?.state === 'tried' ? trialKey(trial.session, key) : key;
    const performed = this.#options.ledger.get(ranAs);
    // A long result is cut in its middle.
    if (performed?.end?.status !== 'finished' || !String(text).startsWith(finishedText(ranAs)))
      this.#violate('an output is that of the call', `${id}: ${key}`);
    this.#log.performed(id, key);
  }
}
