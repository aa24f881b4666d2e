/** A hundred worlds of faults, in each a tree of fifty agents that spends its dollar: what is written down is never more. */
import { agentsMax, budgetUsd, type LargeTree, runLargeTree } from '../simulation/large-tree.ts';
import { atLeast, atMost, exactly, type Proof } from './proof.ts';

const worlds = 100;
const progressWorlds = 10;
/** A tree ends with less left than an answer of 256 tokens costs, or a little more where its last reservation expired. */
const spentUsdMin = 0.98 * budgetUsd;

export const largeTrees: Proof = async (progress) => {
  const trees: LargeTree[] = [];
  for (let seed = 1; seed <= worlds; seed += 1) {
    const tree = await runLargeTree(seed);
    trees.push(tree);
    if (tree.broken !== undefined) progress(`world ${seed}: ${tree.broken}`);
    if (seed % progressWorlds === 0) progress(`${seed} worlds`);
  }
  const number = (is: (tree: LargeTree) => boolean): number => trees.filter(is).length;
  const billed = Math.max(...trees.map(({ billedUsd }) => billedUsd));
  progress(
    `the largest bill of a provider: ${billed.toFixed(4)} dollars, with answers whose function died before it wrote them; over the limit in ${number(({ billedUsd }) => billedUsd > budgetUsd)} worlds`,
  );
  return [
    exactly(
      'trees of 50 agents',
      number(({ agents }) => agents === agentsMax),
      worlds,
    ),
    exactly(
      'of these, trees that spent their dollar to its end',
      number(({ spentUsd, refused }) => spentUsd >= spentUsdMin && refused > 0),
      worlds,
    ),
    atLeast(
      'of these, worlds with faults',
      number(({ faults }) => faults > 0),
      Math.floor(0.9 * worlds),
    ),
    atMost('dollars that a tree has spent', Math.max(...trees.map(({ spentUsd }) => spentUsd)), budgetUsd),
    atMost('dollars that its sessions cost', Math.max(...trees.map(({ costUsd }) => costUsd)), budgetUsd),
    exactly(
      'broken promises',
      number(({ broken }) => broken !== undefined),
      0,
    ),
  ];
};
