/** The end of a turn: what it used, and what its session has used with it, as far as the log was seen here. Pure. */
import type { StopReason } from '#shared/domain/event-log.ts';
import type { EndItem } from './items.ts';

export type Usage = { readonly inputTokens: number; readonly outputTokens: number; readonly costUsd: number };

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

export type CompletionData = {
  readonly stopReason: StopReason;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  readonly sessionCostUsd?: number;
};

export const addUsage = (before: Usage, { usage, sessionCostUsd }: CompletionData): Usage => ({
  inputTokens: before.inputTokens + usage.inputTokens,
  outputTokens: before.outputTokens + usage.outputTokens,
  costUsd: sessionCostUsd ?? before.costUsd,
});

/** The log tells what the session cost: what it cost before is taken off. */
export const endOf = (
  { stopReason, usage: { inputTokens, outputTokens } }: CompletionData,
  { id, before, after }: { readonly id: string; readonly before: Usage; readonly after: Usage },
): EndItem => ({
  kind: 'end',
  id,
  stopReason,
  inputTokens,
  outputTokens,
  costUsd: Math.max(0, after.costUsd - before.costUsd),
});
