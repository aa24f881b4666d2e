import { expect, test } from 'vitest';
import { theDefaultProject } from '#shared/domain/project.ts';
import type { ToolContext } from '../define-tool.ts';
import { configLimits } from './config-limits.ts';

const timeoutUnder = async (toolSecondsMax: number) => {
  const ports = {
    projects: { get: async () => theDefaultProject },
    slots: { read: async () => ({ taken: [] }) },
    slotLimits: { executionMax: 10, agentMax: 10 },
    world: { now: () => 0 },
  };
  const settings = {
    defaults: { lifetimes: { idleMs: 1000, executionIdleMs: 1000 } },
    limits: {
      ...{ recursionDepthMax: 3, agentsPerSessionMax: 50, costUsdMax: 10, stepsPerTurnMax: 50 },
      rate: { perSecond: 10, burst: 20 },
    },
    toolSecondsMax,
  };
  const context = { ports, settings, principal: { scope: 'admin', owner: 'deployment' } };
  const limits = await configLimits.run({}, context as unknown as ToolContext);
  return limits['timeout_seconds'];
};

test.each([
  [3600, { default: 30, max: 3600 }],
  [60, { default: 30, max: 60 }],
  [10, { default: 10, max: 10 }],
])('a call may ask for no more than MAX_TOOL_SECONDS=%d', async (toolSecondsMax, expected) => {
  expect(await timeoutUnder(toolSecondsMax)).toEqual(expected);
});
