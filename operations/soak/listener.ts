/** A person at one session who connects, is cut off, and comes back with the last number they saw. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Random } from '../../tests/simulation/random.ts';
import type { Target } from './client.ts';
import type { SeenFrame } from './record.ts';

export type Listener = {
  readonly frames: readonly SeenFrame[];
  /** Goes without a word, as a train into a tunnel; the way back is taken at once. */
  readonly cut: () => void;
  /** Listens until it has seen this event, then leaves. */
  readonly leaveAfter: (lastIndex: number) => Promise<void>;
};

const pauseMsMax = 1500;
const replayMs = 2500;
const seeMsMax = 180_000;

export const listen = (target: Target, sessionId: string, random: Random): Listener => {
  const frames: SeenFrame[] = [];
  const state = { isLeaving: false, last: -1, socket: undefined as WebSocket | undefined };
  const onFrame = (bytes: unknown): void => {
    const { seq, type, sessionId: of } = JSON.parse(String(bytes)) as SeenFrame & { sessionId: string };
    // Deltas have no number; a parent's socket shows its children's frames too.
    if (seq === null || of !== sessionId) return;
    frames.push({ seq, type });
    while (frames.some((frame) => frame.seq === state.last + 1)) state.last += 1;
  };
  const live = async (): Promise<void> => {
    while (!state.isLeaving) {
      const query = new URLSearchParams({ sessionId, since: String(state.last) });
      const socket = new WebSocket(`${target.url.replace('http', 'ws')}/ws?${query}`, {
        headers: { authorization: `Bearer ${target.token}` },
      });
      state.socket = socket;
      socket.on('message', onFrame);
      // A refused connection and a cut one both end in `close`.
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.once('close', resolve));
      if (!state.isLeaving) await sleep(random.int(50, pauseMsMax));
    }
  };
  const living = live();
  return {
    frames,
    cut: () => state.socket?.terminate(),
    leaveAfter: async (lastIndex) => {
      const giveUpAt = Date.now() + seeMsMax;
      // A frame whose sender was killed comes with the replay of the next connection. One that gives up has a gap, which the audit finds.
      while (state.last < lastIndex && Date.now() < giveUpAt) {
        await sleep(replayMs);
        if (state.last < lastIndex) state.socket?.terminate();
      }
      state.isLeaving = true;
      state.socket?.close();
      await living;
    },
  };
};
