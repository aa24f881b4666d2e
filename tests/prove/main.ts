/**
 * `npm run prove:sandbox [-- NAME …]`: what the suite shows of sandboxes in small, at the size that is promised.
 *
 * Each proof starts the program on a data folder of its own and prints a table of what it counted. The exit code is 1 when one is not
 * met or breaks off; the others are tried nevertheless. It takes half an hour on two busy cores, 6 GB of disk, and for `work` Debian's package archive, as root.
 */
import { parseArgs } from 'node:util';
import { provideSystemPrograms } from '../../local/system-programs.ts';
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
import { waitingTurns } from './waiting-turns.ts';

const proofs: Readonly<Record<string, readonly [title: string, proof: Proof]>> = {
  calls: ['200 calls of execute_code without a session id', anonymousCalls],
  output: ['2 GB of output of one process', largeOutput],
  egress: ['1 GB through the proxy of a sandbox', largeEgress],
  readers: ['an output read by three clients that lose their connection 50 times each', cutOutput],
  fork: ['a fork of 1 GB beside a plain restore', largeFork],
  forks: ['50 forks of one snapshot', manyForks],
  effects: ['1,000 generated commands, applied by their effect and run', appliedEffects],
  tree: ['a hundred trees of 50 agents under a dollar, in simulated worlds of faults', largeTrees],
  wait: ['200 turns that wait for a person for a day, in virtual time', waitingTurns],
  opencode: ['OpenCode carries a turn in a sandbox without a network', opencode],
  machine: [
    'OpenCode, whose questions a person answers in the browser, and a machine that is killed',
    opencodeMachine,
  ],
  acp: ['agents that others made, by the Agent Client Protocol', acp],
  work: ['work of a data scientist and of a web developer', realWork],
};

/** Of one proof without a line of progress, and of all of it: a busy machine is slow, and a proof that hangs says nothing. */
const silentMinutesMax = 20;
const minutesMax = 240;

const run = async (): Promise<readonly string[]> => {
  const { positionals } = parseArgs({ allowPositionals: true });
  // biome-ignore lint/style/noProcessEnv: this is a program of its own, and this is its one read
  await provideSystemPrograms(process.env);
  const names = positionals.length === 0 ? Object.keys(proofs) : positionals;
  const missed: string[] = [];
  for (const name of names) {
    const found = proofs[name];
    if (found === undefined)
      throw new Error(`there is no proof ${name}: use ${Object.keys(proofs).join(', ')}`);
    const [title, proof] = found;
    let isSignalled = false;
    const onSignal = () => {
      isSignalled = true;
    };
    const findings = await watched(name, proof, onSignal).catch(brokenOff);
    printFindings(`${name}: ${title}`, findings);
    if (findings.length === 0 || findings.some(({ isMet }) => !isMet)) missed.push(name);
    if (isSignalled) break;
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

/** A proof that hangs, or is ended from outside, says how far it came. */
const watched = async (name: string, proof: Proof, onSignalled: () => void): Promise<readonly Finding[]> => {
  const ended = Promise.withResolvers<never>();
  let last = 'its beginning';
  const breakOff = (why: string): void => ended.reject(new Error(`${why}, after: ${last}`));
  const silence = setTimeout(breakOff, silentMinutesMax * 60_000, `silent for ${silentMinutesMax} minutes`);
  const whole = setTimeout(breakOff, minutesMax * 60_000, `not done in ${minutesMax} minutes`);
  const onSignal = (signal: string): void => {
    onSignalled();
    breakOff(`ended by ${signal}`);
  };
  for (const signal of signals) process.on(signal, onSignal);
  const progress = (line: string): void => {
    last = line;
    silence.refresh();
    process.stderr.write(`${name}: ${line}\n`);
  };
  try {
    return await Promise.race([proof(progress), ended.promise]);
  } finally {
    for (const timer of [silence, whole]) clearTimeout(timer);
    for (const signal of signals) process.off(signal, onSignal);
  }
};

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

run().then(
  (missed) => process.exit(missed.length === 0 ? 0 : 1),
  (cause: unknown) => {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
    process.exit(1);
  },
);
