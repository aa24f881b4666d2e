/** Facts of a program as the event of a turn: questions that are more than one queue takes. */
import { expect, test } from 'vitest';
import type { RuntimeEvent } from '../../../domain/runtime.ts';
import { withinQueue } from './runtime-event.ts';

const asked = (number: number): RuntimeEvent => ({
  number,
  fact: { type: 'asked', permission: `p${number}`, name: 'bash', args: {} },
});
const file = (number: number): RuntimeEvent => ({ number, fact: { type: 'file', path: 'x' } });

test('questions over the limit of a queue are left for the next step', () => {
  const events = [asked(1), file(2), asked(3), file(4), asked(5), file(6)];
  expect(withinQueue(events, 2)).toEqual(events.slice(0, 4));
  expect(withinQueue(events.slice(4), 2)).toEqual(events.slice(4));
  expect(withinQueue(events, 3)).toEqual(events);
});
