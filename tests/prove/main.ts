/**
 * `npm run prove:sandbox [-- NAME …]`: what the suite shows of sandboxes in small, at the size that is promised.
 *
 * Each proof starts the program on a data folder of its own and prints a table of what it counted. The exit code is 1 when one is not
 * met or breaks off; the others are tried nevertheless. It takes half an hour on two busy cores, 6 GB of disk, and for `work` Debian's package archive, as root.
 */
import { parseArgs } from 'node:util';
import { acp } from './acp.ts';
import { anonymousCalls } from './anonymous-calls.ts';
import { appliedEffects } from './applied-effects.ts';
import { cutOutput } from './cut-output.ts';
import { largeEgress } from './large-egress.ts';
import { largeFork } from './large-fork.ts';
import { largeOutput } from './large-output.ts';
import { largeTrees } from './large-trees.ts';
import { manyForks } from './many-forks.ts';
import { opencode } from './opencode.ts';
import { opencodeMachine } from './opencode-machine.ts';
import { type Finding, type Proof, printFindings } from './proof.ts';
import { realWork } from './real-work.ts';

const proofs: Readonly<Record<string, readonly [title: string, proof: Proof]>> = {
  calls: ['200 calls of execute_code without a session id', anonymousCalls],
  output: ['2 GB of output of one process', largeOutput],
  egress: ['1 GB through the proxy of a sandbox', largeEgress],
  readers: ['an output read by three clients that lose their connection 50 times each', cutOutput],
  fork: ['a fork of 1 GB beside a plain restore', largeFork],
  forks: ['50 forks of one snapshot', manyForks],
  effects: ['1,000 generated commands, applied by their effect and run', appliedEffects],
  tree: ['a hundred trees of 50 agents under a dollar, in simulated worlds of faults', largeTrees],
  opencode: ['OpenCode carries a turn in a sandbox without a network', opencode],
  machine: [
    'OpenCode, whose questions a person answers in the browser, and a machine that is killed',
    opencodeMachine,
  ],
  acp: ['agents that others made, by the Agent Client Protocol', acp],
  work: ['work of a data scientist and of a web developer', realWork],
};

/** Of one proof. */
const minutesMax = 40;

const run = async (): Promise<readonly string[]> => {
  const { positionals } = parseArgs({ allowPositionals: true });
  const names = positionals.length === 0 ? Object.keys(proofs) : positionals;
  const missed: string[] = [];
  for (const name of names) {
    const found = proofs[name];
    if (found === undefined)
      throw new Error(`there is no proof ${name}: use ${Object.keys(proofs).join(', ')}`);
    const [title, proof] = found;
    const progress = (line: string): void => void process.stderr.write(`${name}: ${line}\n`);
    const findings = await within(name, proof(progress)).catch(brokenOff);
    printFindings(`${name}: ${title}`, findings);
    if (findings.length === 0 || findings.some(({ isMet }) => !isMet)) missed.push(name);
  }
  if (names.length > 1)
    process.stdout.write(`met: ${names.length - missed.length} of ${names.length} proofs\n`);
  return missed;
};

/** The others are tried nevertheless. */
const brokenOff = (cause: unknown): readonly Finding[] => {
  const counted = cause instanceof Error ? cause.message : String(cause);
  return [{ what: 'broken off', counted, wanted: 'its end', isMet: false }];
};

const within = async (name: string, work: Promise<readonly Finding[]>): Promise<readonly Finding[]> => {
  const timer = setTimeout(() => {
    process.stderr.write(`${name}: not done in ${minutesMax} minutes\n`);
    process.exit(1);
  }, minutesMax * 60_000);
  return work.finally(() => clearTimeout(timer));
};

run().then(
  (missed) => process.exit(missed.length === 0 ? 0 : 1),
  (cause: unknown) => {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
    process.exit(1);
  },
);
