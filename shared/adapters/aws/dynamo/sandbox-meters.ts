/**
 * The time of sandboxes in the slices that pay for it: it begins with the claim of a sandbox and ends with the record of its stop, in the
 * transactions that write those (TM10). A sandbox that no slice bounds adds nothing to them.
 */

import { startToken } from '#shared/domain/sandbox.ts';
import { meterFor, type Payers, type SandboxMeter } from '#shared/domain/sandbox-meter.ts';
import type { SandboxName } from '#shared/ports/workspace-store.ts';
import type { Actions } from './slot-moves.ts';
import type { Table } from './table.ts';
import { readTree, treeUpdate } from './tree-item.ts';

type Begun = { readonly meter?: SandboxMeter; readonly actions: Actions };

const unmetered: Begun = { actions: [] };

/** `spent`: nothing is left of a slice. */
export const beginMeter = async (
  table: Table,
  name: SandboxName,
  { payers, at }: { readonly payers: Payers | undefined; readonly at: number },
): Promise<Begun | 'spent'> => {
  if (payers === undefined) return unmetered;
  const meter = meterFor(await readTree(table)(payers.root), payers, at);
  if (meter === undefined || meter === 'spent') return meter ?? unmetered;
  const paths = pathsOf(meter, name);
  const begun = treeUpdate(table.name, meter.root, {
    ConditionExpression: paths.places.map((place) => `attribute_exists(${place}.sandboxes)`).join(' AND '),
    UpdateExpression: `SET ${paths.places.map((place) => `${place}.sandboxes.#sandbox = :since`).join(', ')} ADD version :one`,
    ExpressionAttributeNames: paths.names,
    ExpressionAttributeValues: { ':since': meter.since, ':one': 1 },
  });
  return { meter, actions: [begun] };
};

/** Refused if the tree is deleted or no longer counts it. */
export const endMeter = (
  TableName: string,
  name: SandboxName,
  { meter, at }: { readonly meter: SandboxMeter; readonly at: number },
): Actions[number] => {
  const paths = pathsOf(meter, name);
  const each = (text: (place: string) => string): readonly string[] => paths.places.map(text);
  const added = each((place) => `${place}.sandboxMs = if_not_exists(${place}.sandboxMs, :nothing) + :ms`);
  const gone = each((place) => `${place}.sandboxes.#sandbox`);
  return treeUpdate(TableName, meter.root, {
    ConditionExpression: gone.map((path) => `attribute_exists(${path})`).join(' AND '),
    UpdateExpression: `SET ${added.join(', ')} REMOVE ${gone.join(', ')} ADD version :one`,
    ExpressionAttributeNames: paths.names,
    ExpressionAttributeValues: { ':nothing': 0, ':ms': Math.max(0, at - meter.since), ':one': 1 },
  });
};

const pathsOf = ({ slices }: SandboxMeter, { workspaceId, generation }: SandboxName) => ({
  places: slices.map((_, place) => `slices.#slice${place}`),
  names: {
    '#sandbox': startToken(workspaceId, generation),
    ...Object.fromEntries(slices.map((id, place) => [`#slice${place}`, id])),
  },
});
