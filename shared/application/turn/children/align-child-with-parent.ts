/**
 * Compares a child that was made or changed with its current parent. The parent may have changed since it was read,
 * by a caller that did not find this child, or found it as it was.
 *
 * Its network is narrowed (EG1), and its money is that of its parent (TM6). A change of a session looks for those below it
 * after that, so that either of the two finds the other.
 */
import { isSameNetwork } from '../../../domain/egress-policy.ts';
import { narrowedTo } from '../../../domain/inject-rule.ts';
import { type Session, slicesOf } from '../../../domain/session.ts';
import type { DetailsChange } from '../../../domain/session-details.ts';
import { type LimitsChange, treeUsdMaxOf } from '../../../domain/session-tree.ts';
import type { Deps } from '../../deps.ts';
import { changesTooOften, raceLost, untilWon } from '../../write-race.ts';

export const alignChildWithParent = ({ sessions }: Deps<'sessions'>, made: Session): Promise<Session> =>
  untilWon(async (race) => {
    const child = race === 0 ? made : await sessions.get(made.id);
    const parent = child?.tree && (await sessions.get(child.tree.parent));
    if (child === undefined || parent === undefined) return made;
    const wanted = { ...networkIn(child, parent), ...limitsIn(child, parent), ...treeIn(child, parent) };
    const names = Object.keys(wanted) as (keyof Change)[];
    if (names.length === 0) return child;
    const read: Change = Object.fromEntries(names.map((name) => [name, child[name]]));
    return (await sessions.change(child.id, wanted, read)) ?? raceLost;
  }, changesTooOften('the session'));

type Change = Pick<DetailsChange & LimitsChange, 'network' | 'limits' | 'tree'>;

const networkIn = ({ network: had }: Session, parent: Session): Change => {
  const network = narrowedTo(had, parent.network);
  return isSameNetwork(network, had) ? {} : { network };
};

/** A parent without a limit has its operator's, which its child was given. */
const limitsIn = ({ limits }: Session, parent: Session): Change => {
  if (limits?.costUsdMax === undefined) return {};
  const costUsdMax = treeUsdMaxOf(parent, limits.costUsdMax);
  return costUsdMax === limits.costUsdMax ? {} : { limits: { ...limits, costUsdMax } };
};

const treeIn = ({ id, tree }: Session, parent: Session): Change => {
  if (tree === undefined) return {};
  const { slices: had = [], ...rest } = tree;
  const slices = [...(slicesOf(parent) ?? []), ...(had.includes(id) ? [id] : [])];
  const isSame = slices.length === had.length && slices.every((slice, place) => slice === had[place]);
  return isSame ? {} : { tree: { ...rest, ...(slices.length === 0 ? {} : { slices }) } };
};
