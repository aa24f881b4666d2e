/** The verdict on the first bytes of a tunnel: they go on, more are awaited, or the tunnel ends with a reason. */

import type { Endpoint } from '../egress-policy.ts';
import { parseAddress } from '../ip-address.ts';
import { readFirstBytes } from './client-hello.ts';
import { clientHelloPiecesMax } from './limits.ts';

type Refused = { readonly verdict: 'refuse'; readonly reason: string };
export type TunnelVerdict = { readonly verdict: 'pass' | 'wait' } | Refused;

const httpsPort = 443;

/** Where a connection without TLS would be a mistake, or a secret on the wire. */
export const needsTls = ({ port }: Endpoint): boolean => port === httpsPort;

/** EG5: the TLS server name is the host of the tunnel. An address has no server name. */
export const judgeFirstBytes = (endpoint: Endpoint, bytes: Uint8Array): TunnelVerdict => {
  const first = readFirstBytes(bytes);
  switch (first.kind) {
    case 'partial':
      return { verdict: 'wait' };
    case 'plain':
      return needsTls(endpoint) ? refuse('a connection to port 443 must carry TLS') : { verdict: 'pass' };
    case 'broken':
      return refuse('the TLS greeting cannot be read');
    case 'hello': {
      const wanted = endpoint.host.toLowerCase().replace(/\.$/, '');
      const isAddress = parseAddress(wanted.replace(/^\[|\]$/g, '')) !== undefined;
      if (first.serverName === undefined)
        return isAddress ? { verdict: 'pass' } : refuse('the TLS greeting names no server');
      return first.serverName === wanted
        ? { verdict: 'pass' }
        : refuse('the TLS server name is not the host of the tunnel');
    }
  }
};

const refuse = (reason: string): Refused => ({ verdict: 'refuse', reason });

export type GatedBytes =
  | { readonly verdict: 'pass'; readonly bytes: Uint8Array }
  | { readonly verdict: 'wait' }
  | Refused;

/** Holds back the first bytes of a tunnel until they are judged: the host sees nothing of a greeting that is refused. */
export const openTunnelGate = (endpoint: Endpoint): ((bytes: Uint8Array) => GatedBytes) => {
  let held: readonly Uint8Array[] | undefined = [];
  return (bytes) => {
    if (held === undefined) return { verdict: 'pass', bytes };
    held = [...held, bytes];
    if (held.length > clientHelloPiecesMax) return refuse('the TLS greeting comes in too many pieces');
    const joined = joinBytes(held);
    const judged = judgeFirstBytes(endpoint, joined);
    if (judged.verdict === 'refuse') return judged;
    if (judged.verdict === 'wait') return { verdict: 'wait' };
    held = undefined;
    return { verdict: 'pass', bytes: joined };
  };
};

const joinBytes = (pieces: readonly Uint8Array[]): Uint8Array => {
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
};
