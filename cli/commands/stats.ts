/** `stats`: current usage against the limits. */
import { api } from '#sdk/routes.ts';
import { type Command, none } from '../runtime/command.ts';
import { factLines } from '../runtime/output.ts';

export const statsCommand: Command = {
  name: 'stats',
  usage: '',
  summary: 'Show current usage',
  positionals: none,
  run: async (call) => {
    const stats = await call.request(api.stats);
    // A server of an older version counts none.
    const { activeSessions, maxSessions, flavorCounts, pool, agentSlots = [] } = stats;
    const flavors = Object.entries(flavorCounts).map(([flavor, count]) => `${count} ${flavor}`);
    call.output.result(stats, () =>
      factLines([
        ['execution sessions', `${activeSessions} of ${maxSessions}`],
        ['their flavors', flavors.length === 0 ? '-' : flavors.join(', ')],
        ['their memory', `${stats.totalMemoryMb} MB`],
        ['their CPUs', stats.totalCpus],
        ['limits', stats.limits],
        ['preview ports', `${stats.allocatedPorts} of ${stats.allocatedPorts + stats.availablePorts}`],
        ['warm sandboxes', `${pool.ready} of ${pool.target}`],
        ...agentSlots.map(({ name, used, max }) => [`agent slots of ${name}`, `${used} of ${max}`] as const),
      ]),
    );
    return undefined;
  },
};
