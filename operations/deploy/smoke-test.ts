/**
 * The smoke test of a deployment: the platform's own synthetic checks, a turn and then a sandbox, through its public address.
 *
 * They prove the stream, the model's demo provider, the image pull, the link, the bucket and the clean-up, and say how long each
 * took. A failed check is a failure with the place of its log. The check of a sandbox also tells the version of cgroups, which
 * no document does.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Finding, textOf } from './account-checks.ts';
import { findStack, resourcesOf } from './aws.ts';
import type { Target, Terminal } from './command.ts';
import { Failure } from './programs.ts';

const checks = ['turn', 'sandbox'] as const;
type Check = (typeof checks)[number];

/** Longer than the function may run. */
const readSeconds = '330';

/** Further findings of checks that passed; they are printed, too. */
export const smokeTest = async (
  target: Target,
  terminal: Terminal,
  url: string,
): Promise<readonly Finding[]> => {
  const findings: Finding[] = [];
  const compute = `${target.settings.deployment}-compute`;
  const held = await resourcesOf(target.aws, compute);
  const synthetic = held.find(
    ({ id, type }) => type === 'AWS::Lambda::Function' && /Functionssynthetic/.test(id),
  );
  if (synthetic === undefined) throw new Failure(`stack ${compute} has no function for checks`);
  for (const check of checks) {
    terminal.say(`Checking a ${check} …`);
    const { durationMs, cgroups } = await invoke(target, { name: synthetic.physicalId, check, url });
    terminal.say(
      durationMs === undefined
        ? 'The checks are switched off: SYNTHETIC_CHECK.'
        : `A ${check} works: ${(durationMs / 1000).toFixed(1)} s${isCounted(cgroups) ? `, under cgroups ${cgroups}` : ''}`,
    );
    if (cgroups === 'unseen') findings.push(uncounted);
  }
  for (const finding of findings) terminal.say(textOf(finding));
  return findings;
};

const isCounted = (cgroups: Answer['cgroups']): boolean => cgroups === 'v1' || cgroups === 'v2';

const uncounted: Finding = {
  level: 'warn',
  problem: 'sandboxes count their memory themselves, which is less exact: they see no counters of the kernel',
  next: 'Report what a sandbox shows: ls -R /sys/fs/cgroup',
};

/** CloudFront's own name, which works before the DNS of a domain does. */
export const ownAddress = async ({ aws, settings }: Target, url: string): Promise<string> => {
  const name = (await findStack(aws, `${settings.deployment}-edge`))?.outputs['DistributionName'];
  return name === undefined ? url : `https://${name}`;
};

type Asked = { readonly name: string; readonly check: Check; readonly url: string };
type Answer = {
  readonly durationMs?: number;
  /** Of a sandbox. */
  readonly cgroups?: 'v1' | 'v2' | 'unseen';
  readonly errorMessage?: string;
};

const invoke = async ({ aws }: Target, { name, check, url }: Asked): Promise<Answer> => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-check-'));
  try {
    const path = join(folder, 'answer.json');
    const { FunctionError } = await aws.ask<{ readonly FunctionError?: string }>(
      ...['lambda', 'invoke', path, '--function-name', name],
      ...['--cli-binary-format', 'raw-in-base64-out', '--payload', JSON.stringify({ check, url })],
      ...['--cli-read-timeout', readSeconds],
    );
    const answer = JSON.parse(await readFile(path, 'utf8')) as Answer;
    if (FunctionError === undefined) return answer;
    throw new Failure(`a ${check} does not work: ${answer.errorMessage ?? FunctionError}`, [
      `The log of ${name} has the reason; docs/runbook.md, "Synthetic checks failed", says what to do.`,
      'The stacks are deployed: npm run doctor repeats the check.',
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
};
