/** `mcp health` and `mcp test`: whether the servers answer. */
import type { Call } from '../../command.ts';
import { tableLines } from '../../table.ts';
import { inProject, nameOf, pathOf } from './address.ts';

type Health = {
  readonly name: string;
  readonly status: string;
  readonly lastCheck?: string;
  readonly lastSuccess?: string;
  readonly consecutiveFailures?: number;
  readonly error?: string;
};
export type HealthReport = {
  readonly summary: Readonly<Record<string, number>>;
  readonly mcps: readonly Health[];
};
type Tested = { readonly ok: boolean; readonly tools?: readonly unknown[]; readonly error?: unknown };

export const health = async (call: Call): Promise<undefined> => {
  const report = await (await call.client()).get<HealthReport>(inProject(call, '/api/mcp/health'));
  call.output.result(report, () => [
    Object.entries(report.summary)
      .map(([state, count]) => `${count} ${state}`)
      .join(', '),
    ...(report.mcps.length === 0
      ? []
      : tableLines(
          ['NAME', 'STATUS', 'FAILURES', 'LAST CHECK', 'ERROR'],
          report.mcps.map((one) => [one.name, one.status, one.consecutiveFailures, one.lastCheck, one.error]),
        )),
  ]);
  const lost = report.mcps.find(({ status }) => status === 'disconnected');
  if (lost !== undefined && !call.output.isJson)
    call.output.note(
      `A disconnected server is not checked any more: try it with \`sallyport mcp test ${lost.name}\`.`,
    );
};

export const tested = async (call: Call): Promise<number> => {
  const answer = await (await call.client()).send<Tested>('POST', pathOf(call, '/test'));
  call.output.result(answer, () => [
    answer.ok
      ? `${nameOf(call)} answers, with ${counted(answer.tools)}${namesOf(answer.tools)}`
      : `${nameOf(call)} does not work: ${textOf(answer.error)}`,
  ]);
  return answer.ok ? 0 : 1;
};

const counted = ({ length }: readonly unknown[] = []): string =>
  length === 1 ? '1 tool' : `${length} tools`;

const namesOf = (tools: readonly unknown[] = []): string =>
  tools.length === 0 ? '.' : `: ${tools.map(textOf).join(', ')}.`;

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const { name, message } = (value ?? {}) as { readonly name?: string; readonly message?: string };
  return name ?? message ?? JSON.stringify(value);
};
