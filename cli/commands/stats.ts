/** `stats`: what is in use of what there is. */
import { api } from '#sdk/routes.ts';
import type { Command } from '../command.ts';
import { type Cell, factLines } from '../table.ts';

const cellOf = (value: unknown): Cell =>
  typeof value === 'object' && value !== null
    ? Object.entries(value)
        .map(([name, count]) => `${name} ${String(count)}`)
        .join(', ')
    : (value as Cell);

export const statsCommand: Command = {
  name: 'stats',
  usage: '',
  summary: 'Show what is in use',
  positionals: { min: 0, max: 0 },
  run: async (call) => {
    const stats = await (await call.client()).request(api.stats);
    call.output.result(stats, () =>
      factLines(Object.entries(stats).map(([name, value]) => [name, cellOf(value)] as const)),
    );
    return undefined;
  },
};
