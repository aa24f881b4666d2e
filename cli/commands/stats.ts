/** `stats`: current usage against the limits. */
import { api } from '#sdk/routes.ts';
import { type Command, none } from '../runtime/command.ts';
import { type Cell, factLines } from '../runtime/output.ts';

const cellOf = (value: unknown): Cell =>
  typeof value === 'object' && value !== null
    ? Object.entries(value)
        .map(([name, count]) => `${name} ${String(count)}`)
        .join(', ')
    : (value as Cell);

/** `totalMemoryMb` as `total memory mb`. */
const inWords = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

export const statsCommand: Command = {
  name: 'stats',
  usage: '',
  summary: 'Show current usage',
  positionals: none,
  run: async (call) => {
    const stats = await call.request(api.stats);
    // A server of an older version counts none.
    const { agentSlots = [], ...rest } = stats;
    call.output.result(stats, () =>
      factLines([
        ...Object.entries(rest).map(([name, value]) => [inWords(name), cellOf(value)] as const),
        ...agentSlots.map(({ name, used, max }) => [`agent slots of ${name}`, `${used} of ${max}`] as const),
      ]),
    );
    return undefined;
  },
};
