/** The end of a soak: every session is ended, and the sweeps get the time to put away what is left. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Ask, parsed } from './client.ts';
import { hostState } from './host.ts';
import { type Left, leftoversOf } from './leftovers.ts';
import type { Platform } from './platform.ts';
import type { HostState } from './record.ts';

/** Longer than the claim of a last save whose function died (lastSaveMsMax); what is left then is left. */
const settleMsMax = 360_000;
const lookMs = 3000;

/** Children, runs of schedules, and sessions whose creation was not answered. */
export const endAll = async (ask: Ask): Promise<number> => {
  let ended = 0;
  for (;;) {
    const open = await openSessions(ask);
    if (open.length === 0) return ended;
    for (const id of open) await ask(`/api/sessions/${id}`, { method: 'DELETE', also: [404, 409] });
    ended += open.length;
  }
};

type Page = { readonly sessions: readonly { readonly id: string }[]; readonly next?: string };

const openSessions = async (ask: Ask): Promise<readonly string[]> => {
  const found: string[] = [];
  for (let after = ''; ; ) {
    const { sessions, next } = parsed<Page>(await ask(`/api/sessions?status=active${after}`));
    found.push(...sessions.map(({ id }) => id));
    if (next === undefined) return found;
    after = `&after=${encodeURIComponent(next)}`;
  }
};

type Rest = { readonly items: number; readonly left: readonly Left[]; readonly host: HostState };

export const restState = async (
  platform: Platform,
  home: string,
  { before, calmSince }: { readonly before?: HostState; readonly calmSince: number },
): Promise<Rest> => {
  const giveUpAt = Date.now() + settleMsMax;
  for (;;) {
    const items = await platform.items();
    const left = leftoversOf(items, { now: Date.now(), calmSince });
    const host = await hostState(platform.pid(), home);
    const isAtRest =
      left.length === 0 && (before === undefined ? host.folders === 0 : isNoMore(host, before));
    if (isAtRest || Date.now() > giveUpAt) return { items: items.length, left, host };
    await sleep(lookMs);
  }
};

const isNoMore = (now: HostState, before: HostState): boolean =>
  now.processes <= before.processes && now.ports <= before.ports && now.folders <= before.folders;
