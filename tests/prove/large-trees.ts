/** A hundred worlds of faults, in each a tree of fifty agents that spends its dollar: the provider's bill is never more. */
import { agentsMax, budgetUsd, type LargeTree, runLargeTrees } from '../simulation/large-tree.ts';
import { atLeast, atMost, exactly, type Proof } from './proof.ts';

const worlds = 100;
/** A tree ends with less left than an answer of 256 tokens costs. */
const spentUsdMin = 0.98 * budgetUsd;

export const largeTrees: Proof = async (progress) => {
  // Of all lives, whose bounds count alike, and of each world the last.
  const trees: LargeTree[] = [];
  const lasts: LargeTree[] = [];
  for (let seed = 1; seed <= worlds; seed += 1) {
    for (const tree of await runLargeTrees(seed)) {
      trees.push(tree);
      lasts[seed - 1] = tree;
      const { agents, messages, spentUsd, unsettledUsd, billedUsd, broken = 'none broken' } = tree;
      const money = `spent ${spentUsd}, unsettled ${unsettledUsd}, charged ${billedUsd}`;
      progress(`world ${seed}: ${agents} agents, ${messages} messages, ${money}, ${broken}`);
    }
  }
  const most = (usd: (tree: LargeTree) => number): number => Math.max(...trees.map(usd));
  const number = (is: (tree: LargeTree) => boolean): number => lasts.filter(is).length;
  return [
    atLeast(
      'lives of a hundred worlds, lived again where a tree is spent before it is whole',
      trees.length,
      worlds,
    ),
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
    exactly('broken promises', trees.filter(({ broken }) => broken !== undefined).length, 0),
  ];
};
