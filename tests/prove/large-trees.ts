/** A hundred worlds of faults, in each a tree of fifty agents that spends its dollar: the provider's bill is never more. */
import { agentsMax, budgetUsd, type LargeTree, runLargeTree } from '../simulation/large-tree.ts';
import { atLeast, atMost, exactly, type Proof } from './proof.ts';

const worlds = 100;
/** A tree ends with less left than an answer of 256 tokens costs. */
const spentUsdMin = 0.98 * budgetUsd;

export const largeTrees: Proof = async (progress) => {
  const trees: LargeTree[] = [];
  for (let seed = 1; seed <= worlds; seed += 1) {
    const tree = await runLargeTree(seed);
    trees.push(tree);
    const { agents, messages, spentUsd, unsettledUsd, billedUsd, broken = 'none broken' } = tree;
    const money = `spent ${spentUsd}, unsettled ${unsettledUsd}, charged ${billedUsd}`;
    progress(`world ${seed}: ${agents} agents, ${messages} messages, ${money}, ${broken}`);
  }
  const most = (usd: (tree: LargeTree) => number): number => Math.max(...trees.map(usd));
  const number = (is: (tree: LargeTree) => boolean): number => trees.filter(is).length;
  return [
    exactly(
      'trees of 50 agents',
      number(({ agents }) => agents === agentsMax),
      worlds,
    ),
    exactly(
      'of these, trees that spent their dollar to its end',
      number(({ spentUsd, unsettledUsd, refused }) => spentUsd + unsettledUsd >= spentUsdMin && refused > 0),
      worlds,
    ),
    atLeast(
      'of these, worlds with faults',
      number(({ faults }) => faults > 0),
      Math.floor(0.9 * worlds),
    ),
    atLeast(
      'of these, worlds where answers were paid that nobody wrote down',
      number(({ billedUsd, costUsd }) => billedUsd > costUsd),
      Math.floor(0.5 * worlds),
    ),
    atMost(
      'dollars that the provider charged for a tree',
      most(({ billedUsd }) => billedUsd),
      budgetUsd,
    ),
    atMost(
      'dollars that a tree has spent or may have spent',
      most(({ spentUsd, unsettledUsd }) => spentUsd + unsettledUsd),
      budgetUsd,
    ),
    atMost(
      'dollars that its sessions cost',
      most(({ costUsd }) => costUsd),
      budgetUsd,
    ),
    exactly(
      'broken promises',
      number(({ broken }) => broken !== undefined),
      0,
    ),
  ];
};
