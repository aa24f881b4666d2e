/**
 * A call of a caller's tool by a program inside a sandbox: asked by an event of the session, as a turn asks it, and answered by the
 * client in the same way.
 *
 * No person can be asked for an approval here. So it is refused unless the session's mode or a grant lets its agent make the same call
 * without one (PS2).
 */

import { requestToCaller, tooLargeToAsk } from '../../contracts/caller-tools.ts';
import { offerCallerTools, openCallers } from '../../domain/caller-tool.ts';
import type { JsonObject } from '../../domain/json.ts';
import { callerAnswerMs, logLookMsMax, logLookMsMin } from '../../domain/limits.ts';
import { type CallerRoute, problemOfArgs } from '../../domain/requested-call.ts';
import { isOffered, type Session } from '../../domain/session.ts';
import { allowedBy, grantsInForce } from '../../domain/turn/approval-policy.ts';
import type { TurnRecord } from '../../domain/turn/turn.ts';
import { AppError } from '../../errors.ts';
import type { Deps, PublishDeps } from '../deps.ts';
import { appendAndPublish } from '../events/publisher.ts';

type CallerCall = { readonly name: string; readonly args: JsonObject };

type CallerDeps = PublishDeps & Deps<'callers'>;

/** The client's answer, or its error. */
export type CallerCallResult = { readonly text: string; readonly isError: boolean };

export const callerCallFromSandbox = async (
  ports: CallerDeps,
  { session, turn }: { readonly session: Session; readonly turn: TurnRecord },
  { name, args }: CallerCall,
): Promise<CallerCallResult> => {
  const { callers, connections, world } = ports;
  const offers = openCallers(await callers.list(session.id), await connections.subscribers(session.id));
  const route = offerCallerTools(offers, new Set()).routes.get(name);
  if (route === undefined || !isOffered(session, name))
    throw new AppError('not_found', `no client of this session offers a tool ${name}`);
  const problem = problemOfArgs(args);
  if (problem !== undefined) throw new AppError('invalid_request', problem);
  refuseUnapproved({ session, turn }, { name, args, route });
  const requestId = world.uuid();
  const request = requestToCaller(route, { requestId, args });
  if (request === undefined) throw new AppError('payload_too_large', tooLargeToAsk);
  const until = world.now() + callerAnswerMs;
  await callers.ask(session.id, requestId, until);
  await appendAndPublish(ports, session.id, [request]);
  for (let pause = logLookMsMin; world.now() < until; pause = Math.min(logLookMsMax, pause * 1.5)) {
    const answer = await callers.answerTo(session.id, requestId);
    if (answer !== undefined) return answer;
    await world.sleep(pause);
  }
  throw new AppError('execution_timeout', `${route.caller} did not answer within ${callerAnswerMs / 1000} s`);
};

const refuseUnapproved = (
  { session, turn }: { readonly session: Session; readonly turn: TurnRecord },
  call: { readonly name: string; readonly args: JsonObject; readonly route: CallerRoute },
): void => {
  const policy = { mode: session.approvals, grants: grantsInForce(session, turn) };
  if (allowedBy(call, policy, { calls: '', times: 0 }) !== undefined) return;
  throw new AppError('forbidden', `${call.name} needs an approval: let the agent of the session call it`);
};
