/** JSON as a readonly type: what a tool's arguments, an event's data and a stored state are made of. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };
