/** A tool call as a model asked for it: whole, with its arguments parsed. */
import type { CallId } from './ids.ts';
import type { JsonObject } from './json.ts';

export type AskedCall = { readonly callId: CallId; readonly name: string; readonly args: JsonObject };
