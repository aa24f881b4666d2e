/** The names under which an agent has the tools of callers: told apart, and taken once. */
import { expect, test } from 'vitest';
import { type Caller, offerCallerTools, openCallers, takenName } from './caller-tool.ts';
import type { ConnectionId } from './ids.ts';

const caller = (callerId: string, ...names: readonly string[]): Caller => ({
  callerId,
  tools: names.map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
});

test.each<[string, readonly [Caller, readonly Caller[]], string | undefined]>([
  ['nobody else has it', [caller('ide', 'open'), [caller('cli', 'open')]], undefined],
  ['a tool of the sandbox', [caller('execute', 'x', 'command'), []], 'execute_command'],
  ['another caller', [caller('a_b', 'c'), [caller('a', 'b_c')]], 'a_b_c'],
])('a name is taken when %s', (_, offer, taken) => {
  expect(takenName(...offer)).toBe(taken);
});

test('callers are offered in the order of their names, and a taken name is left out', () => {
  const { tools, routes } = offerCallerTools(
    [caller('ide', 'open', 'shut'), caller('cli', 'run')],
    new Set(['ide_shut']),
  );
  expect(tools.map(({ name }) => name)).toEqual(['cli_run', 'ide_open']);
  expect([...routes]).toEqual([
    ['cli_run', { kind: 'caller', caller: 'cli', tool: 'run' }],
    ['ide_open', { kind: 'caller', caller: 'ide', tool: 'open' }],
  ]);
});

test('of two callers with one name the first in order has it', () => {
  const { routes } = offerCallerTools([caller('a_b', 'c'), caller('a', 'b_c')], new Set());
  expect([...routes.values()]).toEqual([{ kind: 'caller', caller: 'a', tool: 'b_c' }]);
});

test('a caller whose socket is closed offers nothing, and one without a socket does', () => {
  const [here, gone] = ['here', 'gone'] as ConnectionId[];
  const callers = [
    { ...caller('ide', 'open'), connectionId: here },
    { ...caller('old', 'open'), connectionId: gone },
    caller('cli', 'run'),
  ] as readonly Caller[];
  expect(openCallers(callers, [{ id: here as ConnectionId }]).map(({ callerId }) => callerId)).toEqual([
    'ide',
    'cli',
  ]);
});
