/** The arguments of a call as a model wrote them, and the tool names of a whole request. */

import type { JsonObject } from '#shared/domain/json.ts';
import type { ModelRequest } from '#shared/domain/model.ts';
import { argsNotJson } from '#shared/domain/requested-call.ts';
import { mapToolNames, type ToolNameRule, type ToolNames } from './tool-names.ts';

/** Text that is no JSON object is passed on as it is: no tool receives it, and the model reads the reason. */
export const argsOf = (json: string): JsonObject => parsedObject(json) ?? argsNotJson(json);

export const parsedObject = (json: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
};

/** Providers refuse a lone surrogate for as long as the history holds it. */
export const wellFormed = (args: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(args), (_key, value) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  );

/** Names of the tools that are offered and of those that were called before. */
export const toolNamesOf = ({ tools, history }: ModelRequest, rule: ToolNameRule): ToolNames => {
  const asked = history.flatMap((message) => (message.role === 'assistant' ? message.calls : []));
  return mapToolNames(
    [...tools, ...asked].map(({ name }) => name),
    rule,
  );
};
