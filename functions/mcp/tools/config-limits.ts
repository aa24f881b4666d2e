/** `config_limits`: the limits that hold for a project or a session, with the session's depth and cost. */
import { limitsInForce } from '#shared/application/project/config-limits.ts';
import { configLimitsArguments, configLimitsResult } from '#shared/contracts/tools/config-limits-tool.ts';
import { writeFileBytesMax } from '#shared/contracts/tools/mcp-tools.ts';
import { readFileBytesMax } from '#shared/contracts/tools/sandbox-tools.ts';
import { executionSecondsMax, slotWaitSecondsMax, toolTimeoutSeconds } from '#shared/domain/limits.ts';
import { totalsOf } from '#shared/domain/session.ts';
import { limitsInForceFor } from '#shared/domain/session-tree.ts';
import { defineTool } from '../define-tool.ts';

export const configLimits = defineTool({
  name: 'config_limits',
  description:
    'Returns the effective limits: depth and number of agents, cost, sessions, flavors, timeouts, request rates, file sizes. With session_id also the depth of the session and the cost of the session and its tree.',
  needs: 'own:read',
  input: configLimitsArguments,
  output: configLimitsResult,
  annotations: { title: 'Show the limits', readOnlyHint: true, openWorldHint: false },
  run: async ({ project_id: projectId, session_id: sessionId }, { ports, principal, settings }) => {
    const inForce = await limitsInForce(ports, { principal, projectId, sessionId });
    const { limits, defaults } = settings;
    const { session, tree } = inForce;
    const treeLimits = limitsInForceFor(session ?? inForce.project, limits);
    return {
      project_id: inForce.project.id,
      max_recursion_depth: treeLimits.recursionDepthMax,
      max_agents_per_session: treeLimits.agentsPerSessionMax,
      max_cost_usd: treeLimits.costUsdMax,
      ...(session === undefined
        ? {}
        : { current_depth: session.depth, current_cost_usd: totalsOf(session).costUsd }),
      ...(tree === undefined
        ? {}
        : {
            tree_cost_usd: tree.spentUsd,
            tree_unsettled_usd: tree.unsettledUsd ?? 0,
            tree_agents: tree.agents,
          }),
      max_sessions: ports.slotLimits.executionMax,
      active_sessions: inForce.activeSessions,
      max_agent_sessions: ports.slotLimits.agentMax,
      max_steps_per_turn: limits.stepsPerTurnMax,
      flavors_allowed: [...inForce.flavorsAllowed],
      timeout_seconds: {
        default: Math.min(toolTimeoutSeconds, settings.toolSecondsMax),
        max: Math.min(executionSecondsMax, settings.toolSecondsMax),
      },
      max_wait_seconds: slotWaitSecondsMax,
      idle_seconds: {
        execution: defaults.lifetimes.executionIdleMs / 1000,
        agent: defaults.lifetimes.idleMs / 1000,
      },
      rate_limit: { per_second: limits.rate.perSecond, burst: limits.rate.burst },
      max_read_file_bytes: readFileBytesMax,
      max_write_file_bytes: writeFileBytesMax,
    };
  },
});
