/**
 * What must hold, looked at with every write: the invariants of docs/spec/turn.md and docs/spec/lifecycle.md as far as they
 * show in the table, in the sandboxes and in what users are told. What must hold in the end is in `at-rest.ts`.
 */
import type { HistoryMessage } from '#shared/domain/history.ts';
import { decodeTaskGroup, type LiveSandbox, type SandboxRecord } from '#shared/domain/sandbox.ts';
import { canBecome, holdsPlace, isEnded, type Session } from '#shared/domain/session.ts';
import type { ToolCall, TurnState } from '#shared/domain/turn/turn.ts';
import { brokenHistory } from './conversation.ts';
import type { Ecs } from './ecs.ts';
import type { Bucket, Manifest } from './inside.ts';
import { LogChecker } from './log-checker.ts';
import { finishedText, type Ledger } from './machine.ts';
import type { Change, Item, MemoryTable } from './memory-table.ts';
import { foundText } from './registry.ts';
import type { Invocation, Simulation } from './world.ts';

export type CheckerOptions = {
  readonly sim: Simulation;
  readonly table: MemoryTable;
  readonly ledger: Ledger;
  readonly bucket: Bucket;
  readonly ecs: () => Ecs;
  readonly placesMax: { readonly execution: number; readonly agent: number };
  readonly stepsMax: number;
};

const ranks = { starting: 0, ready: 1, stopping: 2, stopped: 3 } as const;
/** Two clocks may differ by this much. */
const skewMs = 4000;

export type StoredWorkspace = {
  readonly sandbox?: SandboxRecord;
  readonly checkpoint?: { readonly id: string };
  readonly users?: ReadonlySet<string>;
};

export const stateOf = (item: Item | undefined): TurnState =>
  item === undefined ? { kind: 'idle' } : (JSON.parse(String(item['state'])) as TurnState);

export const isAtRest = ({ kind }: TurnState): boolean => kind === 'idle' || kind === 'done';

export class Checkers {
  readonly #options: CheckerOptions;
  readonly #leases = new WeakMap<Invocation, Map<string, number>>();
  /** The generation a call was recorded to start in, by call key. */
  readonly #started = new Map<string, number>();
  readonly #rejected = new Set<string>();
  /** Calls outside of sandboxes, by what they carry: how they were recorded, and how often they were performed. */
  readonly #outside = new Map<string, { status: ToolCall['status']; times: number }>();
  readonly log: LogChecker;

  constructor(options: CheckerOptions) {
    this.#options = options;
    this.log = new LogChecker(options.sim);
  }

  wrote(changes: readonly Change[], by: Invocation): void {
    const sessions = new Set<string>();
    for (const change of changes) {
      const [kind, id = ''] = [
        change.pk.slice(0, change.pk.indexOf('#')),
        change.pk.slice(change.pk.indexOf('#') + 1),
      ];
      if (kind === 'SESSION') sessions.add(id);
      else if (kind === 'PLACES') this.#places(id, change);
      else if (kind === 'WORKSPACE' && change.sk === 'META') this.#workspace(id, change);
    }
    for (const id of sessions) {
      const own = changes.filter(({ pk }) => pk === `SESSION#${id}`);
      this.#session(id, own, by);
    }
  }

  #violate(checker: string, what: string): void {
    this.#options.sim.violate(checker, what);
  }

  #session(id: string, changes: readonly Change[], by: Invocation): void {
    const meta = changes.find(({ sk }) => sk === 'META');
    const turn = changes.find(({ sk }) => sk === 'TURN');
    for (const { sk, before, after } of changes)
      if (sk.startsWith('ACCEPTED#') && before === undefined && after !== undefined)
        this.log.accepted(id, sk.slice('ACCEPTED#'.length));
    const events = changes.filter(({ sk, after }) => sk.startsWith('EVENT#') && after !== undefined);
    this.#numbers(id, events, meta);
    if (turn?.after !== undefined) this.#turn(id, turn, by);
    if (meta !== undefined) this.#meta(id, meta, by);
    const after = turn?.after && stateOf(turn.after);
    for (const { after: event } of events) {
      const entry = { ...JSON.parse(String(event?.['entry'])), seq: Number(event?.['seq']) };
      this.log.said(id, entry);
      if (entry.type === 'tool:approval_required') this.#asked(id, entry.data.callId, after);
      if (entry.type === 'tool:output' && turn !== undefined) this.#output(id, entry, stateOf(turn.before));
      if (entry.type === 'completion') this.#saved(id, entry.data.stopReason);
    }
  }

  /** T14. */
  #numbers(id: string, events: readonly Change[], meta: Change | undefined): void {
    if (events.some(({ before }) => before !== undefined))
      this.#violate('T14: an event number is used once', id);
    if (meta?.after === undefined || meta.before === undefined) {
      if (events.length > 0) this.#violate('T14: events move lastSeq', id);
      return;
    }
    const [last, next] = [Number(meta.before['lastSeq']), Number(meta.after['lastSeq'])];
    const numbers = events.map(({ after }) => Number(after?.['seq']));
    const isWhole = numbers.every((seq, index) => seq === last + 1 + index) && next === last + numbers.length;
    if (!isWhole)
      this.#violate('T14: no event number is left out', `${id}: ${last} → ${numbers.join()} → ${next}`);
  }

  #meta(id: string, { before, after }: Change, by: Invocation): void {
    if (after === undefined) return;
    const session = after as unknown as Session;
    const status = before?.['status'] as Session['status'] | undefined;
    if (status !== undefined && !canBecome(status, session.status))
      this.#violate('a status changes along its transitions', `${id}: ${status} → ${session.status}`);
    if (after['leaseFence'] !== before?.['leaseFence'] && before !== undefined) {
      const own = this.#leases.get(by) ?? new Map<string, number>();
      this.#leases.set(by, own.set(id, Number(after['leaseFence'])));
    }
    const holder = session.kind === 'execution' ? `execution#${session.owner}` : `agent#${session.project}`;
    const hasPlace = this.#options.table.get(`PLACES#${holder}`, `PLACE#${id}`) !== undefined;
    if (holdsPlace(session) !== hasPlace)
      this.#violate('L4: a session has a place exactly while it is active', `${id} is ${session.status}`);
    if (isEnded(session.status) && status !== undefined && !isEnded(status)) this.#ended(id);
  }

  #ended(id: string): void {
    const items = this.#options.table.partition(`SESSION#${id}`);
    const waiting = items.filter(({ sk }) => String(sk).startsWith('INBOX#'));
    if (waiting.length > 0)
      this.#violate(
        'an ended session leaves no message without its completion',
        `${id}: ${waiting[0]?.['messageId']}`,
      );
    if (!isAtRest(stateOf(this.#options.table.get(`SESSION#${id}`, 'TURN'))))
      this.#violate('an ended session has no running turn', id);
  }

  #turn(id: string, { before, after }: Change, by: Invocation): void {
    const [last, next] = [Number(before?.['version'] ?? 0), Number(after?.['version'])];
    if (next !== last + 1) this.#violate('T15: each version is written once', `${id}: ${last} → ${next}`);
    const fence = this.#leases.get(by)?.get(id);
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
    for (const call of callsOf(state)) {
      const before = earlier.get(call.key);
      const isClosed = ['completed', 'failed', 'rejected'].includes(before?.status ?? '');
      if (isClosed && before?.status !== call.status)
        this.#violate('T11: what has ended stays ended', call.key);
      if (before?.generation !== undefined && before.generation !== call.generation)
        this.#violate('T13: a call keeps its generation', call.key);
      if (call.status === 'executing') this.#started.set(call.key, call.generation ?? 0);
      if (call.status === 'rejected') this.#rejected.add(call.key);
      if (call.route?.kind === 'remote') this.#recorded(String(call.args['id']), call.status);
    }
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

  /** T10. */
  #history(id: string, from: number): void {
    const first = `MESSAGE#${String(from).padStart(12, '0')}`;
    const messages = this.#options.table
      .partition(`SESSION#${id}`)
      .filter(({ sk }) => String(sk).startsWith('MESSAGE#') && String(sk) >= first)
      .map((item) => JSON.parse(String(item['message'])) as HistoryMessage);
    this.#conversation(id, messages);
  }

  #conversation(where: string, messages: readonly HistoryMessage[]): void {
    const fault = brokenHistory(messages);
    if (fault !== undefined)
      this.#violate('T10: every call has its result, every result its call', `${where}: ${fault}`);
  }

  modelAsked(history: readonly HistoryMessage[]): void {
    this.#conversation('as the model is asked', history);
  }

  /** T4. */
  #asked(id: string, callId: string, state: TurnState | undefined): void {
    const waiting =
      state?.kind === 'deciding' ? state.calls.find(({ status }) => status === 'pending') : undefined;
    if (waiting?.callId !== callId)
      this.#violate('T4: one approval is open, that of the first call that waits', id);
  }

  #output(
    id: string,
    entry: { data: { callId: string; content: readonly { text?: string }[] } },
    old: TurnState,
  ): void {
    const key = 'step' in old ? `tool:${old.turnId}:${old.step}:${entry.data.callId}` : '';
    const asked = callsOf(old).find((call) => call.key === key);
    if (asked?.route !== undefined && asked.route.kind !== 'stdio') {
      this.#found(id, asked, entry.data.content[0]?.text);
      return;
    }
    const performed = this.#options.ledger.get(key);
    const isItsOwn = entry.data.content[0]?.text === finishedText(key);
    if (performed?.end?.status !== 'finished' || !isItsOwn)
      this.#violate('an output is that of the call', `${id}: ${key}`);
    this.log.performed(id, key);
  }

  #found(id: string, { args, key }: ToolCall & { readonly key: string }, text: string | undefined): void {
    if (text !== foundText(String(args['id'])))
      this.#violate('an output is that of the call', `${id}: ${key}`);
  }

  /** L11. */
  #saved(id: string, stopReason: string): void {
    const lines = this.log.takeLines(id);
    if (stopReason === 'cancelled' || lines.told || lines.keys.length === 0) return;
    const { table, bucket, ledger, ecs } = this.#options;
    const workspaceId = table.get(`SESSION#${id}`, 'META')?.['workspace'];
    const { sandbox, checkpoint } = (table.get(`WORKSPACE#${workspaceId}`, 'META') ?? {}) as StoredWorkspace;
    const kept = bucket.get(checkpoint?.id ?? '')?.lines ?? [];
    for (const key of lines.keys.filter((one) => !kept.includes(one))) {
      const isThere = sandbox?.state === 'ready' && sandbox.taskArn === ledger.get(key)?.taskArn;
      const task = ecs().tasks.find(({ taskArn }) => taskArn === sandbox?.taskArn);
      if (isThere && task?.status === 'RUNNING' && task.desired === 'RUNNING')
        this.#violate('L11: what was told as done is in a checkpoint', `${id}: ${key}`);
    }
  }

  /** A call begins in a sandbox. */
  begins(callKey: string, taskArn: string): void {
    if (!callKey.startsWith('tool:')) return;
    const generation = this.#started.get(callKey);
    if (generation === undefined) {
      this.#violate('a call is recorded as started before it runs', callKey);
      return;
    }
    if (this.#rejected.has(callKey)) this.#violate('T11: a rejected call never runs', callKey);
    const group = this.#options.ecs().tasks.find((task) => task.taskArn === taskArn)?.group ?? '';
    const name = decodeTaskGroup(group);
    const claim = this.#options.table.get(`WORKSPACE#${name?.workspaceId}`, `CLAIM#${name?.generation}`);
    if ((claim?.['generation'] ?? name?.generation) !== generation)
      this.#violate('a call runs in the sandbox it was recorded for', `${callKey} in ${taskArn}`);
  }

  #places(holder: string, { sk }: Change): void {
    const { table, placesMax } = this.#options;
    const items = table.partition(`PLACES#${holder}`);
    const taken = items.filter((item) => item['sk'] !== 'COUNTER').length;
    const active = Number(items.find((item) => item['sk'] === 'COUNTER')?.['active'] ?? 0);
    const max = holder.startsWith('execution') ? placesMax.execution : placesMax.agent;
    if (active !== taken)
      this.#violate('a place counter is true', `${holder} ${sk}: ${active}, not ${taken}`);
    if (taken > max) this.#violate('L3: no more places than the limit', `${holder}: ${taken} of ${max}`);
  }

  #workspace(id: string, { before, after }: Change): void {
    const [old, now] = [(before ?? {}) as StoredWorkspace, (after ?? {}) as StoredWorkspace];
    if (after === undefined) return;
    this.#generation(id, old.sandbox, now.sandbox);
    if (old.checkpoint?.id === now.checkpoint?.id) return;
    const manifest = this.#options.bucket.get(now.checkpoint?.id ?? '');
    if (manifest === undefined) this.#violate('a checkpoint in the table is in the bucket', id);
    else if (manifest.base !== old.checkpoint?.id)
      this.#violate('a chain of checkpoints never forks', `${id}: ${manifest.id} follows ${manifest.base}`);
  }

  #generation(id: string, old: SandboxRecord | undefined, now: SandboxRecord | undefined): void {
    if (now === undefined) return;
    if (old === undefined || now.generation !== old.generation) {
      const isNext = now.generation === (old?.generation ?? 0) + 1 && now.state === 'starting';
      if (!isNext || (old !== undefined && old.state !== 'stopped'))
        this.#violate('L1: one sandbox of a workspace lives', `${id}: ${old?.generation} ${old?.state}`);
      return;
    }
    this.#steps(id, old, now);
  }

  #steps(id: string, old: SandboxRecord, now: SandboxRecord): void {
    if (now.requestedAt !== old.requestedAt) this.#violate('L1: a generation begins once', id);
    // A start that is given up ends its generation at once: what may run all the same is an orphan (L8).
    const isOver = old.state === 'stopping' && now.state === 'stopped' && old.readyAt !== undefined;
    const task = this.#options.ecs().tasks.find(({ taskArn }) => taskArn === old.taskArn);
    if (isOver && task !== undefined && task.status !== 'STOPPED')
      this.#violate('L7: a sandbox is stopped when ECS says so', `${id}: ${task.taskArn} is ${task.status}`);
    if (ranks[now.state] < ranks[old.state])
      this.#violate('a sandbox goes from state to state', `${id}: ${old.state} → ${now.state}`);
    if (old.taskArn !== undefined && now.taskArn !== old.taskArn)
      this.#violate('L1: a generation is one task', `${id}: ${old.taskArn} → ${now.taskArn}`);
    if (old.state === 'ready' && now.state === 'stopping') this.#taken(id, now);
  }

  /** L5. */
  #taken(id: string, { stoppedReason = '', taskArn }: SandboxRecord): void {
    if (stoppedReason !== 'idle' && !stoppedReason.startsWith('evicted')) return;
    const { ecs, table, sim } = this.#options;
    const users = (table.get(`WORKSPACE#${id}`, 'META') as StoredWorkspace | undefined)?.users ?? new Set();
    for (const user of users) {
      const meta = table.get(`SESSION#${user}`, 'META');
      const calls = Object.values((meta?.['runningCalls'] ?? {}) as Record<string, number>);
      const isBusy = calls.some((until) => until > sim.now() + skewMs);
      const { kind } = stateOf(table.get(`SESSION#${user}`, 'TURN'));
      const runs = ecs().tasks.find((task) => task.taskArn === taskArn)?.machine.running ?? [];
      const hasMessages = table
        .partition(`SESSION#${user}`)
        .some(({ sk }) => String(sk).startsWith('INBOX#'));
      if (isBusy || kind === 'thinking' || kind === 'acting' || (hasMessages && kind !== 'deciding'))
        this.#violate(
          'L5: a busy sandbox is never taken for idle',
          `${id}: ${user} is ${kind}, ${runs.join()}`,
        );
    }
  }

  /** A frame is posted to a client: what was told is in the log. */
  told(text: string): void {
    const { type, seq, sessionId, data } = JSON.parse(text);
    if (seq === null) return;
    const { table } = this.#options;
    if (table.get(`SESSION#${sessionId}`, 'META') === undefined) return;
    const item = table.get(`SESSION#${sessionId}`, `EVENT#${String(seq).padStart(12, '0')}`);
    const entry = item && JSON.parse(String(item['entry']));
    if (entry?.type !== type || JSON.stringify(entry.data) !== JSON.stringify(data))
      this.#violate('what is told is in the log', `${sessionId} ${seq} ${type}`);
  }

  /** L2. */
  restores({ workspaceId, generation }: LiveSandbox): void {
    const { sandbox } = (this.#options.table.get(`WORKSPACE#${workspaceId}`, 'META') ??
      {}) as StoredWorkspace;
    if (sandbox?.generation === generation && sandbox.state === 'ready')
      this.#violate('L2: a sandbox is restored before it is ready', `${workspaceId}: ${generation}`);
  }

  /** A janitor reads a sandbox to save it for the last time. */
  savesLast({ workspaceId, generation }: LiveSandbox): void {
    const { sandbox } = (this.#options.table.get(`WORKSPACE#${workspaceId}`, 'META') ??
      {}) as StoredWorkspace;
    if (sandbox?.generation === generation && sandbox.stopAskedAt !== undefined)
      this.#violate('nothing is saved once ECS has taken the stop', `${workspaceId}: ${generation}`);
  }

  /** Something is deleted from the bucket. */
  deleted({ id, workspaceId }: Manifest): void {
    const workspace = this.#options.table.get(`WORKSPACE#${workspaceId}`, 'META') as
      | StoredWorkspace
      | undefined;
    if (workspace?.checkpoint?.id === id)
      this.#violate('a checkpoint in the table is in the bucket', workspaceId);
  }
}

const callsOf = (state: TurnState): readonly (ToolCall & { readonly key: string })[] =>
  state.kind === 'deciding' || state.kind === 'acting'
    ? state.calls.map((call) => ({ ...call, key: `tool:${state.turnId}:${state.step}:${call.callId}` }))
    : [];
