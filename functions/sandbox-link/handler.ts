/**
 * The sandbox link: the only function in the VPC and the only door into a sandbox. It carries one request
 * and streams the answer back; it refuses every target outside the sandboxes' address range.
 */
import { openHouse } from '#shared/adapters/lambda/house-handler.ts';
import { readEnvironment } from '#shared/config/environment.ts';
import { decode } from '#shared/contracts/decode.ts';
import { linkCall } from '#shared/contracts/link.ts';
import { carry, refusal } from './carry.ts';

// biome-ignore lint/style/noProcessEnv: the one read of this function's environment
const environment = readEnvironment('sandbox-link', process.env);
const house = openHouse('sandbox-link');

export const handler = house.streamingHandler<unknown>(async (event) => {
  const call = decode(linkCall, event);
  if (!call.ok) return refusal('invalid_request', call.problem);
  if (call.value.correlationId !== undefined) house.follow(call.value.correlationId);
  return carry(call.value, { range: environment.SANDBOX_ADDRESS_RANGE, telemetry: house.telemetry });
});
