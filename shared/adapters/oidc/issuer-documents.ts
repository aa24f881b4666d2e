/**
 * The published documents of an OIDC issuer, read over HTTP: its discovery document, and the keys that this
 * names.
 *
 * Refuses redirects, answers that are too large or too slow, a document of another issuer, and keys that are not
 * behind https. An issuer without https is one on this machine (settings say so), and so must be its keys: an
 * issuer elsewhere cannot send us to an address of our own.
 * https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig
 */
import type { JSONWebKeySet } from 'jose';

/** For discovery and keys together. */
const fetchMsMax = 3000;
/** Issuers publish a few kilobytes. */
const documentBytesMax = 262_144;

/** The address of the keys is fetched once and cached, until the keys are not found there. */
export const makeKeyFetcher = (issuer: string): (() => Promise<JSONWebKeySet>) => {
  let keysUrl: URL | undefined;
  return async () => {
    const signal = AbortSignal.timeout(fetchMsMax);
    try {
      keysUrl ??= keysUrlOf(issuer, await fetchJson(discoveryUrl(issuer), signal));
      // The reader of the keys checks the document's form.
      return (await fetchJson(keysUrl, signal)) as JSONWebKeySet;
    } catch (error) {
      keysUrl = undefined;
      throw error;
    }
  };
};

/** A slash at the end of the issuer is not doubled (section 4 of the standard). */
const discoveryUrl = (issuer: string): URL =>
  new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);

const keysUrlOf = (issuer: string, document: unknown): URL => {
  const { issuer: said, jwks_uri: address } = Object(document) as Record<string, unknown>;
  // By the standard they must be identical: a document of another issuer is refused.
  if (said !== issuer) throw new Error('the discovery document is of another issuer');
  if (typeof address !== 'string' || !URL.canParse(address))
    throw new Error('the discovery document names no jwks_uri');
  const [keys, own] = [new URL(address), new URL(issuer)];
  const isAllowed =
    keys.protocol === 'https:' || (keys.protocol === own.protocol && keys.hostname === own.hostname);
  if (!isAllowed) throw new Error('the jwks_uri of the discovery document is not behind https');
  return keys;
};

const fetchJson = async (url: URL, signal: AbortSignal): Promise<unknown> => {
  const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
  if (response.status !== 200) throw new Error(`the issuer answered ${response.status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > documentBytesMax) throw new Error(`the issuer answered more than ${documentBytesMax} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
};
