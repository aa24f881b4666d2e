/**
 * One connection of a program in a sandbox to a host outside: judged, opened, carried both ways, counted.
 *
 * The lists judge it when it is opened, before each request that is answered here, and whenever the lists are read again. A
 * connection that they no longer allow is ended. The first bytes of a tunnel are judged as well. A refusal is sent to the
 * program if HTTP can carry it, and is always recorded. If a rule adds a secret to requests to the host, they are answered here
 * instead of tunnelled. Invariants EG1, EG2, EG5, IJ1 and IJ2: docs/spec/relay.md.
 */

import type { EgressTarget } from '../../contracts/relay/frame.ts';
import type { RelayStream, StreamSink } from '../../contracts/relay/peer.ts';
import { type Ceiling, type EgressRefusal, refuseEgress } from '../../domain/egress-policy.ts';
import { needsTls, openTunnelGate } from '../../domain/relay/first-bytes.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { EgressConnection } from '../../ports/egress.ts';
import type { Deps } from '../deps.ts';
import { type Carrier, carryBytes, carryRequests, type Injection } from './carry-stream.ts';
import type { EgressMeter } from './egress-meter.ts';

export type EgressRecord = {
  readonly host: string;
  readonly port: number;
  readonly allowed: boolean;
  /** From the host into the sandbox. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** It ended because the session has used its bytes. */
  readonly isOverLimit?: true;
};

export type EgressContext = Deps<'egress'> & {
  /** The lists, each of which must allow a host, as they were read before the answer that the stream came with. */
  readonly policies: () => Policies;
  /** Undefined: the connection is carried as it is. */
  readonly injection: (target: EgressTarget) => Injection | undefined;
  /** Calls back after the lists were read again, until what it gives back is called. */
  readonly onListsRead: (listener: () => void) => () => void;
  readonly meter: Pick<EgressMeter, 'count' | 'requireRoom'>;
  readonly onRecord: (record: EgressRecord) => void;
};

export type Policies = readonly (Ceiling | undefined)[];

type Ending = {
  readonly allowed: boolean;
  readonly status?: number;
  readonly message?: string;
  readonly isOverLimit?: true;
};

const messageCharactersMax = 500;
/** A rule for port 443 is for HTTPS: its secret would go in plain text. */
const withoutTls = 'a connection to port 443 must carry TLS: use https://';
const refusedStatus = 403;
const failedStatus = 502;

const sentences: Readonly<Record<EgressRefusal, (target: EgressTarget) => string>> = {
  'no network': () => 'this sandbox has no network: no host is allowed',
  'not a host': ({ host }) => `${host} is not a host name, nor an address in its plain form`,
  'not listed': ({ host, port }) =>
    `${host}:${port} is not among the hosts that this sandbox may reach: a person can add it to the network of its project and of its session`,
};

/** Gives back the sink of a stream that the sandbox has just opened. */
export const openEgressStream = (
  context: EgressContext,
  target: EgressTarget,
  stream: RelayStream,
): StreamSink => {
  const { judge, refusalOfNow, injectionOf } = judgeOf(context, target);
  const counted = { in: 0, out: 0 };
  let carrier: Carrier | undefined;
  let isOver = false;
  /** The work on bytes of the sandbox, in their order. */
  let sending: Promise<void> = Promise.resolve();

  const finish = ({ allowed, status, message, isOverLimit }: Ending): void => {
    if (isOver) return;
    isOver = true;
    stopJudging();
    if (status !== undefined)
      stream.reset({ status, message: (message ?? '').slice(0, messageCharactersMax) });
    carrier?.destroy();
    const { host, port } = target;
    context.onRecord({
      ...{ host: host.toLowerCase(), port, allowed, bytesIn: counted.in, bytesOut: counted.out },
      ...(isOverLimit === undefined ? {} : { isOverLimit }),
    });
  };
  const fail = (error: unknown): void => finish(endingOf(error, target.host));
  const gate = target.via === 'tunnel' ? openTunnelGate(target) : undefined;

  const send = async (bytes: Uint8Array): Promise<void> => {
    if (isOver || carrier === undefined) return;
    const passed = gate === undefined ? { verdict: 'pass' as const, bytes } : gate(bytes);
    if (passed.verdict === 'refuse') finish(refusedWith(passed.reason));
    if (passed.verdict === 'pass') await carrier.send(passed.bytes);
  };
  const inOrder = (work: () => Promise<void>): Promise<void> => {
    sending = sending.then(work).catch(fail);
    return sending;
  };
  const count: Count = (side, bytes) => {
    counted[side] += bytes;
    try {
      context.meter.count(bytes);
    } catch (error) {
      fail(error);
      throw error;
    }
  };
  const connect = async (): Promise<EgressConnection> => {
    judge();
    context.meter.requireRoom();
    return countedBy(count, await context.egress.connect(target));
  };
  const stopJudging = context.onListsRead(() => {
    const refusal = refusalOfNow();
    if (refusal !== undefined) fail(refusal);
  });
  const start = async (): Promise<void> => {
    const first = await connect();
    if (isOver) return first.destroy();
    const injection = injectionOf();
    carrier =
      injection === undefined
        ? carryBytes(stream, first)
        : carryRequests(stream, { target, injection, first, connect, judge });
    stream.accept();
    await carrier.run();
    finish({ allowed: true });
  };
  start().catch(fail);
  return {
    onData: (bytes) => void inOrder(() => send(bytes)),
    onEnd: () => void inOrder(async () => carrier?.end()),
    onReset: () => finish({ allowed: true }),
  };
};

/** By the lists of now, whatever they were when the connection was opened. */
const judgeOf = ({ policies, injection }: EgressContext, target: EgressTarget) => {
  let hadRule = false;
  const refusalOfNow = (): AppError | undefined => {
    const refusal = refuseEgress(policies(), target);
    if (refusal !== undefined) return new AppError('forbidden', sentences[refusal](target));
    if (target.via === 'http' && needsTls(target)) return new AppError('forbidden', withoutTls);
    if (!hadRule || injection(target) !== undefined) return undefined;
    return new AppError('forbidden', `the rule for ${target.host} was removed`);
  };
  const judge = (): void => {
    const refusal = refusalOfNow();
    if (refusal !== undefined) throw refusal;
  };
  const headers = async (): Promise<Readonly<Record<string, string>>> => {
    judge();
    return (await injection(target)?.headers()) ?? {};
  };
  return {
    judge,
    refusalOfNow,
    injectionOf: (): Injection | undefined => {
      const opened = injection(target);
      hadRule = opened !== undefined;
      return opened && { ...opened, headers };
    },
  };
};

type Count = (side: 'in' | 'out', bytes: number) => void;

const countedBy = (count: Count, { incoming, write, end, destroy }: EgressConnection): EgressConnection => ({
  incoming: (async function* () {
    for await (const bytes of incoming) {
      count('in', bytes.length);
      yield bytes;
    }
  })(),
  write: async (bytes) => {
    await write(bytes);
    count('out', bytes.length);
  },
  end,
  destroy,
});

const refusedWith = (message: string): Ending => ({ allowed: false, status: refusedStatus, message });

const endingOf = (error: unknown, host: string): Ending => {
  if (isAppError(error) && error.code === 'forbidden') return refusedWith(error.message);
  if (isAppError(error) && error.code === 'resource_limit_exceeded')
    return { ...refusedWith(error.message), isOverLimit: true };
  const message = isAppError(error) ? error.message : `the connection to ${host} was interrupted`;
  return { allowed: true, status: failedStatus, message };
};
