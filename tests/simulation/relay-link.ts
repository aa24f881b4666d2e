/** The routes of the relay in the simulated world, as the link reaches them. */
import { AppError } from '#shared/errors.ts';
import type { LinkRequest } from '#shared/ports/sandbox.ts';
import { type Invocation, Later } from './invocation.ts';
import type { Machine } from './machine.ts';
import type { RelayChecker } from './relay-checker.ts';
import type { Slice } from './relay-in-sandbox.ts';

/** Nothing is sent through it here: its answers have no bytes. */
const body = {
  cancel: async () => undefined,
  [Symbol.asyncIterator]: async function* () {
    yield* [];
  },
};
const answer = (status: number): Response => ({ status, ok: status < 400, body }) as unknown as Response;
const statuses = { next: 200, over: 204, taken: 409 } satisfies Record<Slice, number>;

/** The answer to a request of a holder; undefined for another path. */
export const answerRelay = (
  machine: Machine,
  request: LinkRequest,
  { by, checker }: { readonly by: Invocation; readonly checker: RelayChecker },
): Response | Later | undefined => {
  const url = new URL(request.path, 'http://sandbox');
  const holder = url.searchParams.get('holder') ?? '';
  const { relay } = machine;
  const answered = (slice: Slice): Response => {
    if (!machine.isUp) throw new AppError('sandbox_unavailable', 'the sandbox has died');
    checker.answered(by, slice);
    return answer(statuses[slice]);
  };
  switch (url.pathname) {
    case '/relay/hold': {
      checker.holds(by);
      return answer(relay.hold(JSON.parse(String(request.body))) ? 204 : 409);
    }
    case '/relay/upstream': {
      const slice = relay.slice(holder);
      if (!(slice instanceof Later)) return answered(slice);
      return new Later(slice.milliseconds, () => answered(slice.phase() as Slice));
    }
    case '/relay/release': {
      if (relay.release(holder)) checker.released(by);
      return answer(204);
    }
    case '/relay/dismiss':
      return answer(204);
    default:
      return undefined;
  }
};
