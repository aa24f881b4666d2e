/** Need of a number of sessions, by quota, and the number of sessions at which each quota breaks. */
import { type QuotaName, quotas } from './quotas.ts';
import { modelCallsPerHour, type Workload } from './workload.ts';

/** The figures of `npm run bench -- turn`. */
export type TurnWrites = { readonly withoutTools: number; readonly withOneCall: number };

export type Session = {
  readonly workload: Workload;
  readonly writes: TurnWrites;
  readonly sandboxVcpus: number;
};

const secondsOfHour = 3600;

/** A further call writes what the first one wrote. */
export const writesOfTurn = ({ withoutTools, withOneCall }: TurnWrites, calls: number): number =>
  withoutTools + calls * (withOneCall - withoutTools);

/** The need of one session that is in use; each quota has its own unit. */
export const needOfSession = ({
  workload,
  writes,
  sandboxVcpus,
}: Session): Readonly<Record<QuotaName, number>> => {
  const turnsPerSecond = workload.turnsPerHour / secondsOfHour;
  const modelCallsPerMinute = modelCallsPerHour(workload) / 60;
  const relaySeconds = 2 * workload.networkShare * (workload.turnSeconds + workload.relayIdleSeconds);
  const functionSeconds = workload.turnSeconds + workload.linkSeconds + relaySeconds;
  return {
    fargateVcpus: workload.sandboxShare * sandboxVcpus,
    fargateLaunches: workload.sandboxStartsPerHour / secondsOfHour,
    networkInterfaces: workload.sandboxShare,
    subnetAddresses: workload.sandboxShare,
    lambdaConcurrency: turnsPerSecond * functionSeconds,
    tableWrites: turnsPerSecond * writesOfTurn(writes, workload.callsPerTurn),
    gatewayRequests: turnsPerSecond * workload.framesPerTurn,
    socketConnects: workload.connectsPerHour / secondsOfHour,
    agentSlots: workload.sandboxShare,
    agentSlotsMax: workload.sandboxShare,
    modelRequests: modelCallsPerMinute,
    modelInput: modelCallsPerMinute * workload.freshInputTokens,
    modelOutput: modelCallsPerMinute * workload.outputTokens,
  };
};

export type Breaking = { readonly quota: QuotaName; readonly sessions: number };

/** The quota that breaks first comes first. */
export const breakingPoints = (session: Session): readonly Breaking[] => {
  const need = needOfSession(session);
  return (Object.keys(quotas) as QuotaName[])
    .map((quota) => ({ quota, sessions: Math.floor(quotas[quota].amount / need[quota]) }))
    .toSorted((one, other) => one.sessions - other.sessions);
};
