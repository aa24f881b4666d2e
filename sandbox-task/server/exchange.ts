/** The exchange of one request: what a route gets of it, and its encoded parts decoded strictly. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { filePathProblem } from '#shared/contracts/fields.ts';
import { Refusal } from './refusal.ts';

export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  /** The group of the route's pattern, decoded. */
  readonly name: string;
};

export const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new Refusal('invalid_request', 'the path is not URL-encoded', { cause });
  }
};

export const parseUserPath = (path: string): string => {
  const problem = filePathProblem(path);
  if (problem !== undefined) throw new Refusal('invalid_request', `it must be ${problem}`);
  return path;
};

/** A path in the query; `URLSearchParams` would put another character for bytes that are none. */
export const queryPath = ({ url = '' }: IncomingMessage, field: 'path' | 'to' = 'path'): string =>
  decode(new RegExp(`[?&]${field}=([^&#]*)`).exec(url)?.[1]?.replaceAll('+', ' ') ?? '');
