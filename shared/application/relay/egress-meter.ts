/**
 * The bytes that a session has exchanged with hosts outside, against the most that it may (EG7).
 *
 * They are counted as they pass and stored after each answer of the sandbox: a holder that dies loses those of one answer. A
 * failure to store them ends nothing; they are stored with the next ones.
 */
import type { SessionId } from '../../domain/ids.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';

export type EgressMeter = {
  /** Throws `resource_limit_exceeded` when no byte may pass any more. */
  readonly requireRoom: () => void;
  /** As `requireRoom`, after these have passed. */
  readonly count: (bytes: number) => void;
  readonly store: () => Promise<void>;
};

type Ports = Deps<'egressUsage' | 'egressBytesMax' | 'telemetry'>;

const bytesInMegabyte = 1_000_000;

export const openEgressMeter = async (
  { egressUsage, egressBytesMax, telemetry }: Ports,
  session: SessionId,
): Promise<EgressMeter> => {
  let stored = await egressUsage.read(session);
  let passed = 0;
  const requireRoom = (): void => {
    if (stored + passed < egressBytesMax) return;
    throw new AppError(
      'resource_limit_exceeded',
      `this session has used its ${egressBytesMax / bytesInMegabyte} MB of traffic with hosts outside (MAX_EGRESS_MB)`,
    );
  };
  return {
    requireRoom,
    count: (bytes) => {
      passed += bytes;
      requireRoom();
    },
    store: async () => {
      const bytes = passed;
      if (bytes === 0) return;
      try {
        const sum = await egressUsage.add(session, bytes);
        stored = sum;
        passed -= bytes;
      } catch (error) {
        telemetry.warn('bytes of a session were not counted', { sessionId: session, error });
      }
    },
  };
};
