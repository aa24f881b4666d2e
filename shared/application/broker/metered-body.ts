/**
 * The body of a provider's answer as it passes: metered, ended in its middle when it would pass the budget, and settled once, however
 * it ends.
 */
import type { Meter } from '../../domain/broker/meter.ts';
import type { BrokerProvider } from '../../domain/broker/provider.ts';
import { refusalEvent } from '../../domain/broker/refusal.ts';
import type { TokenUsage } from '../../domain/model.ts';

/** `isKnown`: the provider charges for this usage and nothing else. */
export type Outcome = { readonly usage: TokenUsage; readonly isKnown: boolean };

type Metering = {
  readonly provider: BrokerProvider;
  readonly isStreamed: boolean;
  readonly meter: Meter;
  /** True when the usage so far passes what is left. */
  readonly isOver: (usage: TokenUsage) => boolean;
  readonly settle: (outcome: Outcome) => Promise<void>;
};

const spent = { status: 402, message: 'the budget of the session is spent: the answer ends here' };
const broken = { status: 502, message: 'the provider closed the connection' };

export const meteredBody = (
  body: ReadableStream<Uint8Array>,
  { provider, isStreamed, meter, isOver, settle }: Metering,
): ReadableStream<Uint8Array> => {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let settled: Promise<void> | undefined;
  const settleOnce = (): Promise<void> => {
    const usage = meter.usage();
    settled ??= settle({ usage, isKnown: meter.isFinal() });
    return settled;
  };
  const endWith = async (
    controller: ReadableStreamDefaultController<Uint8Array>,
    refusal: typeof spent,
  ): Promise<void> => {
    await settleOnce();
    if (!isStreamed) return controller.error(new Error(refusal.message));
    controller.enqueue(encoder.encode(refusalEvent(provider, refusal)));
    controller.close();
  };
  return new ReadableStream({
    pull: async (controller) => {
      const read = await reader.read().catch(() => undefined);
      if (read === undefined) return endWith(controller, broken);
      if (read.done) {
        await settleOnce();
        return controller.close();
      }
      meter.take(decoder.decode(read.value, { stream: true }));
      if (!isStreamed || !isOver(meter.usage())) return controller.enqueue(read.value);
      await reader.cancel().catch(() => undefined);
      await endWith(controller, spent);
    },
    cancel: async () => {
      await reader.cancel().catch(() => undefined);
      await settleOnce();
    },
  });
};
