/**
 * A request that the provider refused because of its tools: the tool, or their number, in the words of the platform.
 *
 * Tools come from servers and clients, so that their owner can do something about it; the failure would be ours otherwise.
 */
import type { ToolSpec } from '#shared/domain/model.ts';
import { AppError } from '#shared/errors.ts';

/** The place of a tool in a request: `tools.13.custom…`, `tools[13].parameters`, `toolConfig.tools.13.…`, `function_declarations[13]…`. */
const places = [/function_?declarations\[(\d+)\]/i, /\btools[.[](\d+)/];
const tooMany = /tools\W{0,3} array too long.{0,100}maximum length (\d+)/i;

export const toolRefusal = (refusal: AppError, tools: readonly ToolSpec[]): AppError => {
  if (refusal.code !== 'internal_error') return refusal;
  const message = messageOf(textOf(refusal.cause), tools);
  return message === undefined ? refusal : new AppError('invalid_request', message, refusal.details);
};

const messageOf = (text: string, tools: readonly ToolSpec[]): string | undefined => {
  const most = tooMany.exec(text)?.[1];
  if (most !== undefined)
    return `this model takes at most ${most} tools, and the agent has ${tools.length}: disable some, or MCP servers that offer them`;
  const place = places.map((pattern) => pattern.exec(text)?.[1]).find((number) => number !== undefined);
  const tool = place === undefined ? undefined : tools[Number(place)];
  return (
    tool && `the model provider refuses the tool "${tool.name}": disable it, or the MCP server that offers it`
  );
};

/** OpenAI names the place beside its message. */
const textOf = (cause: unknown): string =>
  cause instanceof Error ? `${cause.message} ${String(Reflect.get(cause, 'param') ?? '')}` : '';
