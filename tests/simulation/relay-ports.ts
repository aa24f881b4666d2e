/** The ports of a function that holds a relay, and the network of the sandboxes that have one. */
import type { RelayDeps } from '#shared/application/deps.ts';
import type { Network } from '#shared/domain/egress-policy.ts';
import { fake } from '../fake.ts';
import type { Ports } from './ports.ts';

export const relayNetwork: Network = { allow: ['library.example'] };
const egressBytesMax = 1_000_000;
/** Less than a slice: a sandbox that is idle lets its holder go before that hands over. */
const relayIdleSeconds = 10;

const noneUsed = async () => ({ bytes: 0, left: egressBytesMax });

/** No program of this world sends anything. */
export const relayPortsOf = (ports: Ports): RelayDeps => ({
  ...ports,
  egress: fake({}),
  egressBytesMax,
  egressCeiling: relayNetwork,
  egressUsage: { read: noneUsed, add: noneUsed },
  hostStandIn: fake({}),
  relayIdleSeconds,
  relayStarter: ports.invoker,
  platformCalls: fake({}),
  rateLimiter: fake({}),
  brokerWire: fake({}),
  brokerSettings: fake({}),
});
