/**
 * Branded ids, which the compiler tells apart.
 *
 * A branded id is made only by a port (a new one) or a decoder (one that came from outside); a plain string never
 * slips in where an id is meant.
 */
export type SessionId = string & { readonly brand: 'SessionId' };
export type WorkspaceId = string & { readonly brand: 'WorkspaceId' };
export type SnapshotId = string & { readonly brand: 'SnapshotId' };
export type ProjectId = string & { readonly brand: 'ProjectId' };
export type ConnectionId = string & { readonly brand: 'ConnectionId' };
export type TurnId = string & { readonly brand: 'TurnId' };
/** A user's message (its id is the client's, or made here) or an assistant's. */
export type MessageId = string & { readonly brand: 'MessageId' };
/** A tool call as the provider named it, unique within one turn. */
export type CallId = string & { readonly brand: 'CallId' };
/** The owner of a resource: a project, the deployment, or the subject of an OIDC token. */
export type OwnerId = string & { readonly brand: 'OwnerId' };

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * The id that follows from a SHA-256 in hexadecimal: deriving it again gives the same. A UUID of version 8 (RFC
 * 9562, 5.8).
 */
export const derivedUuid = (sha256: string): string => {
  const variant = '89ab'[Number.parseInt(sha256.slice(16, 17), 16) % 4];
  return [
    sha256.slice(0, 8),
    sha256.slice(8, 12),
    `8${sha256.slice(13, 16)}`,
    `${variant}${sha256.slice(17, 20)}`,
    sha256.slice(20, 32),
  ].join('-');
};

/** An id that another caller may derive again, also once what had it is deleted. */
export const isDerived = (id: string): boolean => id[14] === '8';

export const isUuid = (text: string): boolean => uuidPattern.test(text);

/**
 * A UUID from outside as it is stored: case does not matter (RFC 9562, section 4), and two spellings are one id.
 * Any other text stays as it is.
 */
export const canonicalUuid = (text: string): string => {
  const lower = text.toLowerCase();
  return isUuid(lower) ? lower : text;
};
