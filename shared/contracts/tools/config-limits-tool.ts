/** The arguments and the result of `config_limits`: each limit under the name of its setting. */
import * as z from 'zod';
import { closed, id, projectId } from './tool-fields.ts';

const count = (meaning: string) => z.int().describe(meaning);
const secondsOf = (meaning: string) => z.number().describe(`Seconds ${meaning}.`);

export const configLimitsArguments = closed({
  project_id: projectId
    .optional()
    .describe('Id of the project; absent: that of the session, or the default one.'),
  session_id: id.optional().describe('Id of a session whose depth and cost are returned too.'),
});

export const configLimitsResult = z.object({
  project_id: z.string().describe('Id of the project to which the limits apply.'),
  max_recursion_depth: count('Largest depth of agents that start agents.'),
  max_agents_per_session: count(
    'Largest number of agents that one session may start, on all levels together.',
  ),
  max_cost_usd: z.number().describe('Most that one session and its tree may spend on models, in US dollars.'),
  current_depth: z.int().optional().describe('Depth of the session; 0: no agent started it.'),
  current_cost_usd: z.number().optional().describe('Cost of the session, in US dollars.'),
  tree_cost_usd: z
    .number()
    .optional()
    .describe('Cost of the session tree, in US dollars; absent: the session has no tree.'),
  tree_unsettled_usd: z
    .number()
    .optional()
    .describe('Possible cost of calls whose real cost is unknown. It counts as spent.'),
  tree_agents: z
    .int()
    .optional()
    .describe('Number of agents started in the session tree so far, including the first.'),
  max_sessions: count('Slots of execution sessions: sandboxes that may start or live at once.'),
  active_sessions: count('Slots of execution sessions that are held.'),
  max_agent_sessions: count('Slots of agents of one project: turns that work and sandboxes, at once.'),
  max_steps_per_turn: count('Largest number of model calls in one turn.'),
  flavors_allowed: z.array(z.string()).describe('Flavors that a session may have.'),
  timeout_seconds: z
    .object({ default: secondsOf('if the call gives no timeout'), max: secondsOf('that a call may ask for') })
    .describe('Timeout of one execution.'),
  max_wait_seconds: secondsOf('that a call may wait for a slot'),
  idle_seconds: z
    .object({ execution: secondsOf('until it is paused'), agent: secondsOf('until its sandbox is stopped') })
    .describe('Idle times of sessions.'),
  rate_limit: z
    .object({
      per_second: z.number().describe('Requests per second, sustained.'),
      burst: z.number().describe('Requests at once.'),
    })
    .describe('Request rate of one token.'),
  max_read_file_bytes: count('Largest file that read_file returns, in bytes.'),
  max_write_file_bytes: count('Largest file that write_file accepts, in bytes.'),
});
