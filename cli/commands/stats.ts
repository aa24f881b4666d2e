/** `stats`: current usage against the limits. */
import type { AnswerOf } from '#sdk/route.ts';
import { api } from '#sdk/routes.ts';
import { type Command, none } from '../runtime/command.ts';
import { type Cell, factLines } from '../runtime/output.ts';

type Stats = AnswerOf<typeof api.stats>;

/** A server of an older version counts no slots. */
const rowsOf = ({
  flavorCounts,
  pool,
  agentSlots = [],
  executionSlots = [],
  ...stats
}: Stats): readonly (readonly [string, Cell])[] => {
  const flavors = Object.entries(flavorCounts).map(([flavor, count]) => `${count} ${flavor}`);
  // Each owner has slots of its own.
  const counted =
    executionSlots.length > 1
      ? executionSlots.map(
          ({ name, used, max }) => [`execution sessions of ${name}`, `${used} of ${max}`] as const,
        )
      : [['execution sessions', `${stats.activeSessions} of ${stats.maxSessions}`] as const];
  return [
    ...counted,
    ['their flavors', flavors.length === 0 ? '-' : flavors.join(', ')],
    ['their memory', `${stats.totalMemoryMb} MB`],
    ['their CPUs', stats.totalCpus],
    ['limits', stats.limits],
    ['preview ports', `${stats.allocatedPorts} of ${stats.allocatedPorts + stats.availablePorts}`],
    ['warm sandboxes', `${pool.ready} of ${pool.target}`],
    ...agentSlots.map(({ name, used, max }) => [`agent slots of ${name}`, `${used} of ${max}`] as const),
  ];
};

export const statsCommand: Command = {
  name: 'stats',
  usage: '',
  summary: 'Show current usage',
  positionals: none,
  run: async (call) => {
    const stats = await call.request(api.stats);
    call.output.result(stats, () => factLines(rowsOf(stats)));
    return undefined;
  },
};
