/**
 * Connections to hosts outside, for programs of sandboxes, from the platform's side; and those of them whose requests get a secret
 * there.
 */
import type { SessionId, WorkspaceId } from '../domain/ids.ts';
import type { Payers } from '../domain/sandbox-meter.ts';

export type EgressTarget = { readonly host: string; readonly port: number };

export interface EgressConnection {
  /** The bytes of the host; ends with its end, throws when the connection breaks. */
  readonly incoming: AsyncIterable<Uint8Array>;
  /** Resolves when more may be written; throws when the connection is broken. */
  write(bytes: Uint8Array): Promise<void>;
  /** No more bytes are written. */
  end(): void;
  destroy(): void;
}

/** Resolves names itself, once, and connects to what it has judged. */
export interface Egress {
  /** Throws `forbidden` for an address that nothing may connect to, `sandbox_unavailable` when there is no connection. */
  connect(target: EgressTarget): Promise<EgressConnection>;
}

export type EgressSum = {
  /** Of the session. */
  readonly bytes: number;
  /** Of the slices that pay for it; infinity where none bounds them. */
  readonly left: number;
};

/** The bytes that sessions have exchanged with hosts outside, both ways, and those that are left of slices. */
export interface EgressUsage {
  read(session: SessionId, payers: Payers | undefined): Promise<EgressSum>;
  /** Counts them in the session and in each slice that pays, in one write; the sums after it. */
  add(
    session: SessionId,
    of: { readonly bytes: number; readonly payers: Payers | undefined },
  ): Promise<EgressSum>;
}

/** The authority of one sandbox, which its programs trust and whose key is never in it. */
export interface SandboxAuthority {
  /** As PEM. */
  certificate(workspaceId: WorkspaceId, generation: number): string;
}

export type InjectedExchange = {
  readonly target: EgressTarget;
  readonly sandbox: { readonly workspaceId: WorkspaceId; readonly generation: number };
  /** The program's end of the connection. */
  readonly program: EgressConnection;
  /** A connection to the host, once for each request; throws as `Egress.connect`. */
  readonly connect: () => Promise<EgressConnection>;
  /** The headers for the host, with their values of now, by name; throws an error that a client may be told. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
};

/**
 * Answers the HTTP of a program in the name of a host: it ends TLS, passes each request on with headers of its own, and verifies
 * the host's certificate.
 */
export interface HostStandIn {
  /** Resolves when the program's connection is over. */
  answer(exchange: InjectedExchange): Promise<void>;
}
