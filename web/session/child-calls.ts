/**
 * Waiting calls of child sessions that have been decided. A decision about a call is sent once, over the connection of that
 * moment.
 */
import { SallyportError } from '#sdk/errors.ts';
import { api } from '#sdk/routes.ts';
import { request } from '../api/request.ts';
import type { CallItem, Item, Items } from './items.ts';

/** Of these items. One for which the server gives no answer stays: a decision about it says what became of it. */
export const settledChildCalls = async (items: Items): Promise<readonly CallItem[]> => {
  const calls = items.filter(isOfChild);
  const settled = await Promise.all(calls.map(isSettled));
  return calls.filter((_, index) => settled[index]);
};

type ChildCall = CallItem & { readonly childSession: string };

const isOfChild = (item: Item): item is ChildCall =>
  item.kind === 'call' && item.childSession !== null && item.status === 'waiting';

const isSettled = async ({ childSession: id, request: asked }: ChildCall): Promise<boolean> => {
  try {
    const { pendingApprovals } = await request(api.showSession, { params: { id } });
    return !pendingApprovals.some(({ digest }) => digest === asked?.digest);
  } catch (error) {
    // The session was deleted.
    return error instanceof SallyportError && error.status === 404;
  }
};
