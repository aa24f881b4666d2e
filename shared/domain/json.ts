/** JSON as a readonly type: the type of a tool's arguments, an event's data and a stored state. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };
