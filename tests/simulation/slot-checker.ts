/**
 * Slots, with every write: as many are counted as are held, never more than the limit, each by a turn that works or a sandbox
 * that starts or lives, and each of these holds one (L3, L4).
 */
import { isPoolEntry } from '#shared/domain/pool.ts';
import type { SandboxRecord } from '#shared/domain/sandbox.ts';
import { isEnded, type Session } from '#shared/domain/session.ts';
import { turnTakesSlot } from '#shared/domain/session-slot.ts';
import type { HeldSlot } from '#shared/domain/slot.ts';
import { slotHolderOf } from '#shared/domain/slot-holder.ts';
import type { CheckerOptions } from './checker-options.ts';
import type { Change, Item } from './memory-table.ts';
import { isOfNewerVersion, sessionOf, turnOf, workspaceOf } from './stored.ts';

const isLive = (sandbox: SandboxRecord | undefined): boolean =>
  sandbox?.state === 'starting' || sandbox?.state === 'ready';

export class SlotChecker {
  readonly #options: CheckerOptions;

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  #violate(checker: string, what: string): void {
    this.#options.sim.violate(checker, what);
  }

  /** A write moved a slot or its counter. */
  slots(holder: string, { sk, before, after }: Change): void {
    const { table, slotsMax, sim } = this.#options;
    const items = table.partition(`SLOTS#${holder}`);
    const held = items.filter((item) => item['sk'] !== 'COUNTER').length;
    const counted = Number(items.find((item) => item['sk'] === 'COUNTER')?.['active'] ?? 0);
    const max = holder.startsWith('execution') ? slotsMax.execution : slotsMax.agent;
    if (counted !== held)
      this.#violate('L4: slots counted are slots held', `${holder} ${sk}: ${counted}, not ${held}`);
    if (held > max) this.#violate('L3: no more slots than the limit', `${holder}: ${held} of ${max}`);
    if (sk === 'COUNTER') return;
    sim.coverage.hit(`slot/${partsOf(before)}→${partsOf(after)}`);
    if (after !== undefined) this.#holds(holder, after as unknown as HeldSlot);
  }

  #holds(holder: string, { session: id, turn, sandbox }: HeldSlot): void {
    const { table } = this.#options;
    if (turn === undefined && sandbox === undefined) this.#violate('L4: a slot is held by something', id);
    if (turn !== undefined && sessionOf(table, id)?.slot?.turn !== true)
      this.#violate('L4: a slot of a turn is in its session', `${holder}: ${id}`);
    const record = sandbox && workspaceOf(table, sandbox.workspace).sandbox;
    if (sandbox === undefined) return;
    if (record?.generation !== sandbox.generation || record.slot?.session !== id || !isLive(record))
      this.#violate('L4: a slot of a sandbox is in its record', `${holder}: ${id} ${record?.state}`);
  }

  session(id: string, after: Item): void {
    const session = after as unknown as Session;
    if (isOfNewerVersion(session)) return;
    const { table } = this.#options;
    const item = table.get(`SLOTS#${slotHolderOf(session)}`, `SLOT#${id}`) as HeldSlot | undefined;
    const works = session.slot?.turn === true;
    if (works !== (item?.turn === true))
      this.#violate('L4: a session knows the slot of its turn', `${id} is ${session.status}`);
    if (works && (isEnded(session.status) || !turnTakesSlot(session)))
      this.#violate('L4: an ended session, an execution or a child has no turn in a slot', id);
    if (!turnTakesSlot(session) || isEnded(session.status)) return;
    const { kind } = turnOf(table, id);
    if (works && kind === 'deciding') this.#violate('L4: a turn that waits for a person has no slot', id);
    if (!works && (kind === 'thinking' || kind === 'acting'))
      this.#violate('L4: a turn that works has a slot', `${id} is ${kind}`);
  }

  workspace(id: string, after: Item | undefined): void {
    if (after === undefined || isPoolEntry(id as never) || isOfNewerVersion(after)) return;
    const { sandbox } = after as { readonly sandbox?: SandboxRecord };
    if (sandbox === undefined) return;
    if (isLive(sandbox) !== (sandbox.slot !== undefined))
      this.#violate('L4: a sandbox holds a slot while it starts or lives', `${id} is ${sandbox.state}`);
    if (sandbox.slot === undefined) return;
    const { holder, session } = sandbox.slot;
    const item = this.#options.table.get(`SLOTS#${holder}`, `SLOT#${session}`) as HeldSlot | undefined;
    if (item?.sandbox?.workspace !== id || item.sandbox.generation !== sandbox.generation)
      this.#violate('L4: a sandbox is in the slot that it names', `${id}: ${session}`);
  }
}

const partsOf = (item: Item | undefined): string => {
  if (item === undefined) return 'free';
  const { turn, sandbox } = item as unknown as HeldSlot;
  if (turn !== undefined) return sandbox === undefined ? 'turn' : 'both';
  return 'sandbox';
};
