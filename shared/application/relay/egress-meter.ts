/**
 * The bytes that a session has exchanged with hosts outside, against the most that it may: by the operator's limit (EG7), and by the
 * slices that pay for it (TM11).
 *
 * They are counted as they pass and stored after each answer of the sandbox: a holder that dies loses those of one answer. A
 * failure to store them ends nothing; they are stored with the next ones.
 */
import type { SessionId } from '../../domain/ids.ts';
import type { Payers } from '../../domain/sandbox-meter.ts';
import { payersOf } from '../../domain/session.ts';
import { AppError } from '../../errors.ts';
import type { Deps } from '../deps.ts';
import { sliceUsedUp } from '../sandbox/slice-used-up.ts';

export type EgressMeter = {
  /** Throws `resource_limit_exceeded` when no further byte may pass. */
  readonly requireRoom: () => void;
  /** As `requireRoom`, after these have passed. */
  readonly count: (bytes: number) => void;
  readonly store: () => Promise<void>;
};

type Ports = Deps<'egressUsage' | 'egressBytesMax' | 'sessions' | 'telemetry'>;

const bytesInMegabyte = 1_000_000;
const noneLeft = 'the bytes of egress of this session are used up (max_egress_bytes)';

export const openEgressMeter = async (
  { egressUsage, egressBytesMax, sessions, telemetry }: Ports,
  session: SessionId,
): Promise<EgressMeter> => {
  let found = await sessions.get(session);
  /** A session below another may be given a slice later; any other has those that it was made with. */
  const payersNow = async (): Promise<Payers | undefined> => {
    if (found?.tree !== undefined) found = await sessions.get(session);
    return found && payersOf(found);
  };
  let stored = await egressUsage.read(session, found && payersOf(found));
  let passed = 0;
  /** One line of each holder: its programs may try without end. */
  let usedUp: AppError | undefined;
  const sliceOver = (): AppError => {
    usedUp ??= sliceUsedUp({ telemetry }, { measure: 'egressBytes', sessionId: session, message: noneLeft });
    return usedUp;
  };
  const requireRoom = (): void => {
    if (stored.bytes + passed >= egressBytesMax)
      throw new AppError(
        'resource_limit_exceeded',
        `this session has used its ${egressBytesMax / bytesInMegabyte} MB of traffic with hosts outside (MAX_EGRESS_MB)`,
      );
    if (passed >= stored.left) throw sliceOver();
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
        stored = await egressUsage.add(session, { bytes, payers: await payersNow() });
        passed -= bytes;
      } catch (error) {
        telemetry.warn('bytes of a session were not counted', { sessionId: session, error });
      }
    },
  };
};
