/** The arguments and the result of `config_limits`: each limit under the name of its setting. */
import * as z from 'zod';
import { closed, id, projectId } from './tool-fields.ts';

const count = (meaning: string) => z.int().describe(meaning);
const secondsOf = (meaning: string) => z.number().describe(`Seconds ${meaning}.`);

export const configLimitsArguments = closed({
  project_id: projectId
    .optional()
    .describe('The project; absent: the one of the session, or the default one.'),
  session_id: id.optional().describe('A session, to be told how deep it is and what it has used.'),
});

export const configLimitsResult = z.object({
  project_id: z.string().describe('The project these hold for.'),
  max_recursion_depth: count('How deep agents may start agents.'),
  max_agents_per_session: count('How many agents one session may start, all levels together.'),
  max_cost_usd: z
    .number()
    .describe('What one session may spend on models, in US dollars, all that it starts together.'),
  current_depth: z.int().optional().describe('How deep the session is; 0: nobody started it.'),
  current_cost_usd: z.number().optional().describe('What the session has spent.'),
  tree_cost_usd: z
    .number()
    .optional()
    .describe('What the session and all that belong to its tree have spent; absent: it stands alone.'),
  tree_agents: z.int().optional().describe('How many agents its tree has had so far, with the first.'),
  max_sessions: count('Execution sessions at once.'),
  active_sessions: count('Execution sessions that are there.'),
  max_agent_sessions: count('Agent sessions of one project at once.'),
  max_steps_per_turn: count('Model calls in one turn.'),
  flavors_allowed: z.array(z.string()).describe('The sizes a session may have.'),
  timeout_seconds: z
    .object({ default: secondsOf('when none is asked for'), max: secondsOf('that may be asked for') })
    .describe('Of one execution.'),
  max_wait_seconds: secondsOf('that a call may wait for a slot'),
  idle_seconds: z
    .object({ execution: secondsOf('until it is stopped'), agent: secondsOf('until its sandbox is stopped') })
    .describe('How long a session may do nothing.'),
  rate_limit: z
    .object({ per_second: z.number().describe('Sustained.'), burst: z.number().describe('At once.') })
    .describe('Requests of one token.'),
  max_read_file_bytes: count('Bytes of a file that read_file gives.'),
  max_write_file_bytes: count('Bytes of a file that write_file takes.'),
});
