/** `mcp health` and `mcp test`: whether the servers answer. */
import { api } from '#sdk/routes.ts';
import type { Call } from '../../command.ts';
import { tableLines } from '../../table.ts';
import { addressOf, inProject, nameOf } from './address.ts';

export const health = async (call: Call): Promise<undefined> => {
  const report = await (await call.client()).request(api.serverHealth, inProject(call));
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
  const answer = await (await call.client()).request(api.testServer, addressOf(call));
  call.output.result(answer, () => [
    answer.ok
      ? `${nameOf(call)} answers, with ${counted(answer.tools)}${namesOf(answer.tools)}`
      : `${nameOf(call)} does not work: ${answer.error}`,
  ]);
  return answer.ok ? 0 : 1;
};

const counted = ({ length }: readonly unknown[] = []): string =>
  length === 1 ? '1 tool' : `${length} tools`;

const namesOf = (tools: readonly { readonly name: string }[] = []): string =>
  tools.length === 0 ? '.' : `: ${tools.map(({ name }) => name).join(', ')}.`;
