/** The sandbox's log lines that come with a save. Without them the save is still a save. */
import { decode } from '#shared/contracts/decode.ts';
import { type SaveCall, sandboxLogPage } from '#shared/contracts/link.ts';
import type { Telemetry } from '#shared/ports/telemetry.ts';
import { headersOf, openRequest, readJson } from './sandbox-request.ts';

const logBytesMax = 256 * 1024;
const silenceMsMax = 10_000;

type Source = { readonly target: URL; readonly telemetry: Telemetry };

export const readLogs = async (call: SaveCall, { target, telemetry }: Source) => {
  try {
    const response = await openRequest({
      target,
      method: 'GET',
      path: `/logs?after=${call.logsAfter}`,
      headers: headersOf(call),
      silenceMsMax,
    });
    const page = decode(sandboxLogPage, await readJson(response, logBytesMax));
    if (page.ok) return page.value.lines;
    telemetry.warn('the logs of a sandbox cannot be read', { problem: page.problem });
  } catch (error) {
    telemetry.warn('the logs of a sandbox were not reached', { error });
  }
  return [];
};
