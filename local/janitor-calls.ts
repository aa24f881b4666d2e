/** The calls of the janitor at the start of a cloud of one machine, and before its end. */
import { firstOf } from '#shared/adapters/lambda/late-json.ts';
import { functionNamed } from './deployed-functions.ts';
import type { FunctionHost } from './lambda/function-host.ts';

const askJanitor = (functions: FunctionHost, sweep: 'start' | 'end') =>
  functions.invoke(functionNamed('janitor'), JSON.stringify({ sweep }));

/**
 * Every function of the last life is dead: what they held is free before the first one of this life begins. With a table
 * that others may share, that is unknown.
 */
export const takeOver = async (functions: FunctionHost, log: (text: string) => void): Promise<void> => {
  const { outcome } = await askJanitor(functions, 'start');
  if (outcome.kind === 'failed')
    log(`work of the previous start goes on when its leases have expired: ${outcome.error.errorMessage}\n`);
};

const saveMsMax = 10_000;

/** False when not all workspaces whose sandboxes run could be saved in this time. */
export const saveWorkspaces = async (functions: FunctionHost, msMax = saveMsMax): Promise<boolean> => {
  // One that is not accepted fails as one that throws: the end goes on.
  const asked = askJanitor(functions, 'end').catch(() => undefined);
  const answer = await firstOf(asked, msMax);
  if (answer?.outcome.kind !== 'finished') return false;
  const { failed } = JSON.parse(answer.payload) as { readonly failed?: number };
  return failed === 0;
};
