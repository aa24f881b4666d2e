/** The context of a call of a program inside a sandbox, and its parameters, of which an unknown or wrong one is refused by name. */
import type * as z from 'zod';
import { decode } from '#shared/contracts/decode.ts';
import type { Principal } from '#shared/domain/principal.ts';
import type { Session } from '#shared/domain/session.ts';
import type { TurnRecord } from '#shared/domain/turn/turn.ts';
import { AppError } from '#shared/errors.ts';
import type { McpPorts, McpSettings } from '../define-tool.ts';

export type MethodContext = {
  readonly ports: McpPorts;
  readonly settings: McpSettings;
  readonly session: Session;
  readonly turn: TurnRecord;
  readonly principal: Principal;
  readonly deadlineAt: number;
};

/** A call from inside is not cancelled: nothing says that its program is gone. */
export const neverAborted = (): AbortSignal => new AbortController().signal;

/** Throws `invalid_request` naming the field. */
export const paramsOf = <Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> => {
  const decoded = decode(schema, params);
  if (decoded.ok) return decoded.value;
  throw new AppError('invalid_request', decoded.problem);
};
