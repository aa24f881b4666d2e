/** The end of a turn: its usage, and the usage of its session as far as this page has seen the log. Pure. */
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

/** The log has the cost of the session: the cost before the turn is subtracted. */
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
