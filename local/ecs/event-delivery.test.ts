/** The order of deliveries on a clock that the test turns. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openEventDelivery } from './event-delivery.ts';
import { type Faults, openFaultPlan } from './faults.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const delivered = (faults: Faults) => {
  const seen: unknown[] = [];
  const delivery = openEventDelivery(openFaultPlan(faults), ({ version }) => seen.push(version));
  return { seen, delivery };
};

test('without faults an event comes at once', () => {
  const { seen, delivery } = delivered({});
  for (const version of [1, 2, 3]) delivery.deliver({ version });
  expect(seen).toEqual([1, 2, 3]);
});

test('shuffled events are overtaken, doubled ones come again, lost ones never', async () => {
  const { seen, delivery } = delivered({ events: { shuffle: true, double: true, lose: [4] } });
  for (const version of [1, 2, 3, 4]) delivery.deliver({ version });
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen).toEqual([2, 2, 1, 3, 1, 3]);
});

test('what is late at the stop is dropped', async () => {
  const { seen, delivery } = delivered({ events: { delayMs: 100 } });
  delivery.deliver({ version: 1 });
  await vi.advanceTimersByTimeAsync(100);
  delivery.deliver({ version: 2 });
  delivery.stop();
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen).toEqual([1]);
});
