/**
 * The two ways in which the bytes of a program and of a host outside meet, after the connection was judged and opened: as they are,
 * or in requests that are answered here and passed on with a secret of the project.
 *
 * Bytes of the program count as taken when the host, or the reader of the requests, has taken them.
 */
import type { RelayStream } from '../../contracts/relay/peer.ts';
import type { EgressConnection, EgressTarget, HostStandIn, InjectedExchange } from '../../ports/egress.ts';

export type Carrier = {
  /** Resolves when both sides are over; throws when one breaks. */
  readonly run: () => Promise<void>;
  readonly send: (bytes: Uint8Array) => Promise<void>;
  /** The program sends nothing more. */
  readonly end: () => void;
  readonly destroy: () => void;
};

export const carryBytes = (stream: RelayStream, connection: EgressConnection): Carrier => {
  const endSent = Promise.withResolvers<void>();
  const receive = async (): Promise<void> => {
    for await (const bytes of connection.incoming) if (!(await stream.write(bytes))) return;
    stream.end();
  };
  return {
    run: async () => {
      await Promise.all([receive(), endSent.promise]);
    },
    send: async (bytes) => {
      await connection.write(bytes);
      stream.take(bytes.length);
    },
    end: () => {
      connection.end();
      endSent.resolve();
    },
    destroy: connection.destroy,
  };
};

export type Injection = Pick<InjectedExchange, 'headers' | 'sandbox'> & { readonly hostStandIn: HostStandIn };

type Requests = {
  readonly target: EgressTarget;
  readonly injection: Injection;
  /** Opened before the program hears of success, so that a refusal reaches it; the first request has it. */
  readonly first: EgressConnection;
  readonly connect: () => Promise<EgressConnection>;
  /** Throws when the host is no longer allowed. */
  readonly judge: () => void;
};

export const carryRequests = (
  stream: RelayStream,
  { target, injection, first, connect, judge }: Requests,
): Carrier => {
  /** Those that have not ended: a program may send any number of requests. */
  const opened = new Set<EgressConnection>([first]);
  let spare: EgressConnection | undefined = first;
  let isOver = false;
  const sent = byteQueue((bytes) => {
    if (!isOver) stream.take(bytes);
  });
  const destroy = (): void => {
    isOver = true;
    sent.end();
    for (const one of [...opened]) one.destroy();
  };
  const next = async (): Promise<EgressConnection> => {
    judge();
    const connection = spare ?? (await connect());
    spare = undefined;
    opened.delete(connection);
    const taken: EgressConnection = {
      ...connection,
      destroy: () => {
        opened.delete(taken);
        connection.destroy();
      },
    };
    opened.add(taken);
    if (isOver) taken.destroy();
    return taken;
  };
  const program: EgressConnection = {
    incoming: sent.bytes(),
    write: async (bytes) => {
      if (!(await stream.write(bytes))) throw new Error('the program has gone');
    },
    end: stream.end,
    destroy,
  };
  const { hostStandIn, headers, sandbox } = injection;
  return {
    run: async () => {
      await hostStandIn.answer({ target, headers, sandbox, program, connect: next });
      // It may have given up without a word.
      stream.end();
    },
    send: async (bytes) => sent.push(bytes),
    end: sent.end,
    destroy,
  };
};

/** Bytes of one writer for one reader; they count as taken when the next ones are asked for. */
const byteQueue = (onTaken: (bytes: number) => void) => {
  const waiting: Uint8Array[] = [];
  let isEnded = false;
  let wake = (): void => undefined;
  return {
    push: (bytes: Uint8Array): void => {
      waiting.push(bytes);
      wake();
    },
    end: (): void => {
      isEnded = true;
      wake();
    },
    bytes: async function* (): AsyncGenerator<Uint8Array> {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) {
          yield next;
          onTaken(next.length);
        } else if (isEnded) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  };
};
