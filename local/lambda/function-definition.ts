/**
 * What a Lambda function is to the embedded cloud: its name, its module, its environment and its limits.
 */
export type FunctionDefinition = {
  readonly name: string;
  /** Absolute path of the module that exports `handler`. */
  readonly entry: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  /** Reserved concurrency: invocations over it are throttled. Absent: none is reserved. */
  readonly concurrencyMax?: number;
};

export const region = 'us-east-1';
export const accountId = '000000000000';

export const arnOf = (name: string): string => `arn:aws:lambda:${region}:${accountId}:function:${name}`;

/** A caller may name a function by name, partial ARN or ARN, and may add a qualifier. */
export const nameFrom = (reference: string): string => {
  const parts = reference.split(':');
  const marker = parts.indexOf('function');
  return (marker < 0 ? parts[0] : parts[marker + 1]) ?? reference;
};
