/** A remote call ends with its function: without the time for it, it is left to the next one. */
import { expect, test } from 'vitest';
import { newSession } from '../../../../tests/conformance/session-fixture.ts';
import { openQuietPorts } from '../../../../tests/simulation/quiet-ports.ts';
import { remoteCallMsMax } from '../../../domain/limits.ts';
import type { ToolEffect } from '../../../domain/turn/turn.ts';
import type { LoopDeps } from '../../deps.ts';
import type { TurnContext } from '../commit/turn-context.ts';
import { runTools } from './run-tools.ts';

test('a remote call that may outlast its function is not begun by it (T13)', async () => {
  const { ports, takeRequests } = openQuietPorts();
  let why: string | undefined;
  const monitor = {
    hasTimeFor: (ms: number) => ms < remoteCallMsMax,
    interrupt: (reason: string) => {
      why = reason;
    },
    interruption: () => why,
    signal: new AbortController().signal,
  };
  const turn = { version: 1, state: { kind: 'idle' } };
  const context = { session: newSession(), turn, monitor } as unknown as TurnContext;
  const route = { kind: 'remote', server: 's', tool: 'pay' };
  const call = { type: 'run-tool', key: 'k', callId: 'c', name: 's_pay', args: {}, route };
  const outcome = await runTools(ports as unknown as LoopDeps, context, {
    calls: [call as unknown as ToolEffect],
    toolTimes: { waitMs: 1000, secondsMax: 60 },
  });
  expect(outcome).toEqual({ status: 'current', context });
  expect(why).toBe('deadline');
  expect(takeRequests()).toEqual([]);
});
