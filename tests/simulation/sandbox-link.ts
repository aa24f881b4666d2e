/** The link into a sandbox and its tools in the simulated world: each fails as its adapter does. */

import { UnsentError } from '#shared/errors.ts';
import type {
  AskedOutcome,
  LinkRequest,
  SandboxCall,
  SandboxLink,
  SandboxTools,
} from '#shared/ports/sandbox.ts';
import type { Invocation } from './invocation.ts';
import { type Machine, triedBy } from './machine.ts';
import { type InsideOptions, opened, reached, unavailable } from './reach.ts';
import { answerRelay } from './relay-link.ts';

const options = { fault: unavailable };

/** An answer of so few bytes that its body does not matter. */
const refused = { error: { code: 'unauthorized', message: 'not the bearer of this sandbox' } };
const answer = (status: number, body: object = refused): Response =>
  ({ status, ok: status < 400, body: null, json: async () => body }) as unknown as Response;

export const linkFor = (inside: InsideOptions, invocation: Invocation): SandboxLink => ({
  fetch: (sandbox, request) =>
    invocation.request<Response>(
      `${request.method} ${request.path}`,
      () => {
        const machine = reached(inside, invocation, sandbox);
        if (machine.bearer !== inside.bearerHash(sandbox.workspaceId, sandbox.generation)) return answer(401);
        const by = { by: invocation, checker: inside.relays };
        return answerRelay(machine, request, by) ?? answerServer(inside, machine, request);
      },
      options,
    ),
});

const answerServer = (
  { onInput }: InsideOptions,
  machine: Machine,
  { method, path, body }: LinkRequest,
): Response => {
  const input = /^\/processes\/([^/]+)\/stdin/.exec(path)?.[1];
  if (input !== undefined) onInput(input);
  // The simulated programs want none.
  if (path === '/relay/wanted-hosts') return answer(200, { hosts: [] });
  if (path === '/processes' && method === 'GET')
    return answer(200, { processes: [], calls: machine.running.length });
  if (path !== '/claim') return answer(200);
  machine.bearer = String(JSON.parse(String(body))['bearerSha256']);
  return answer(204);
};

export const toolsFor = (inside: InsideOptions, invocation: Invocation): SandboxTools => {
  const ask = (call: SandboxCall, waitMs?: number): Promise<AskedOutcome> =>
    askInside(inside, invocation, { ...call, waitMs });
  return {
    call: async (call) => {
      const outcome = await ask(call);
      return outcome.status === 'running' ? { status: 'lost', message: 'it still runs' } : outcome;
    },
    callFor: (call) => ask(call, call.waitMs),
    cancel: (sandbox, callKey) =>
      invocation.call(`cancel ${callKey}`, () => inside.ecs.reach(sandbox.address)?.cancel(callKey)),
  };
};

const askInside = (
  inside: InsideOptions,
  invocation: Invocation,
  { sandbox, callKey, onProgress, signal, waitMs }: SandboxCall & { readonly waitMs: number | undefined },
): Promise<AskedOutcome> => {
  const { sim } = invocation;
  const cancel = (): void => {
    sim.after(sim.latency(), () => inside.ecs.reach(sandbox.address)?.cancel(callKey));
  };
  signal?.addEventListener('abort', cancel, { once: true });
  return new Promise<AskedOutcome>((resolve) => {
    const hear = (outcome: AskedOutcome): void =>
      sim.after(sim.latency(), () =>
        invocation.hear(() => {
          signal?.removeEventListener('abort', cancel);
          if (sim.fires('death')) return invocation.die('while a call answers');
          sim.wake();
          if (outcome.status === 'finished') onProgress({ stream: 'stdout', offset: 0, text: 'x' });
          resolve(outcome);
        }),
      );
    if (!invocation.isAlive) return;
    sim.after(sim.latency(), () => {
      try {
        const machine = opened(inside, invocation, sandbox);
        // A trial has no network.
        if (!machine.knows(callKey) && triedBy(callKey) === undefined)
          inside.relays.used(invocation, sandbox);
        machine.ask(callKey, hear, waitMs);
      } catch (error) {
        const unsent = error instanceof UnsentError ? { isUnsent: true as const } : {};
        hear({ status: 'lost', message: String(error), ...unsent });
      }
    });
  });
};
