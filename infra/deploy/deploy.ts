/**
 * A deploy from its checks to its address: what it costs is said before anything is made, what it took as it goes.
 *
 * The first one makes the admin token. AWS gets its hash and nobody the token again: it is printed once, at the end. A
 * later one keeps the token that there is; one that broke before the end has told nobody, so the next makes another.
 */
import { createHash, randomBytes } from 'node:crypto';
import { hashedFileCaching, pageCaching } from '#shared/config/web-headers.ts';
import { inRepository } from '../constructs/assets.ts';
import { idleBill } from '../cost/idle-bill.ts';
import { synthesise } from '../stacks/synthesise.ts';
import type { Conversation } from './conversation.ts';
import { Failure } from './failure.ts';
import type { Programs } from './programs.ts';
import { checkReady } from './ready.ts';
import { findStack, resourcesOf } from './stacks.ts';
import type { Target } from './target.ts';

export type DeployWish = {
  readonly target: Target;
  readonly programs: Programs;
  readonly person: Conversation;
  /** Nobody is asked. */
  readonly yes: boolean;
  /** Another admin token instead of the one that there is. */
  readonly newToken: boolean;
};

export const deploy = async (wish: DeployWish): Promise<void> => {
  const { target, programs, person } = wish;
  const { settings, account, region, stage } = target;
  const { deployment } = settings;
  person.say(`Account ${account}, ${region}, stage ${stage}: deployment ${deployment}`);
  await checkReady(programs, target);
  person.say('Credentials, Docker and the bootstrap of the CDK are there.');
  const isComplete = (await findUrl(target)) !== undefined;
  person.say(`${isComplete ? 'An upgrade' : 'A first deploy'}. ${costsOf(target)}`);
  if (!wish.yes && !(await person.agrees(`Deploy ${deployment} to ${account}? [yes/no] `, 'yes')))
    throw new Failure('nothing was deployed');
  const token = isComplete && !wish.newToken ? undefined : `sp_${randomBytes(32).toString('hex')}`;
  await run(wish, { says: 'Building the web app', program: 'npm', args: ['run', '--silent', 'build:web'] });
  await run(wish, { says: 'Deploying the stacks', program: 'cdk', args: cdkArguments(target, token) });
  await putWeb(wish);
  const url = await findUrl(target);
  if (url === undefined)
    throw new Failure('the stacks stand but name no address', [`Look at the outputs of ${deployment}-edge.`]);
  greet(person, url, token);
};

/** What the edge stack says once it stands: before that no deploy has come to its end. */
const findUrl = async ({ aws, settings }: Target): Promise<string | undefined> => {
  const stack = await findStack(aws, `${settings.deployment}-edge`);
  return stack !== undefined && /^(?:CREATE|UPDATE)_COMPLETE$|^UPDATE_ROLLBACK_COMPLETE$/.test(stack.status)
    ? stack.outputs['Url']
    : undefined;
};

const costsOf = ({ settings }: Target): string => {
  const { usd } = idleBill(synthesise({ settings }));
  return `While nobody works it costs about $${usd.toFixed(2)} a month in us-east-1: npm run cost says for what.`;
};

const cdkArguments = ({ stage, settings }: Target, token: string | undefined): readonly string[] => [
  'deploy',
  '--all',
  '--require-approval',
  'never',
  '--context',
  `stage=${stage}`,
  ...(token === undefined
    ? []
    : ['--parameters', `${settings.deployment}-compute:AdminTokenSha256=${sha256(token)}`]),
];

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Shown as it goes; a program that fails has said why. */
const run = async ({ programs, person }: DeployWish, step: Step): Promise<void> => {
  person.say(`\n${step.says} …`);
  const code = await programs.shown(step.program, step.args);
  if (code !== 0)
    throw new Failure(`${step.program} ${step.args[0]} ended with ${code}`, [
      'What it printed above says why. Nothing is lost: npm run deploy goes on where it stopped.',
    ]);
};

type Step = { readonly says: string; readonly program: string; readonly args: readonly string[] };

/** Files whose names hold a hash stay for those who have the old page open; the page itself is asked for anew. */
const putWeb = async (wish: DeployWish): Promise<void> => {
  const { aws, settings, region } = wish.target;
  const edge = `${settings.deployment}-edge`;
  const bucket = (await findStack(aws, edge))?.outputs['WebBucket'];
  const distribution = (await resourcesOf(aws, edge)).find(
    ({ type }) => type === 'AWS::CloudFront::Distribution',
  );
  if (bucket === undefined || distribution === undefined)
    throw new Failure('the stacks stand but name no bucket for the web app', [
      `Look at the outputs of ${edge}.`,
    ]);
  const copy = (from: string, to: string, more: readonly string[]) =>
    run(wish, {
      says: `Copying the web app: ${to === '' ? 'the page' : to}`,
      program: 'aws',
      args: ['s3', 'sync', from, `s3://${bucket}/${to}`, '--region', region, '--only-show-errors', ...more],
    });
  // What the page names is there before the page.
  await copy(inRepository('web/dist/assets'), 'assets', ['--cache-control', hashedFileCaching]);
  await copy(inRepository('web/dist'), '', ['--exclude', 'assets/*', '--cache-control', pageCaching]);
  const paths = ['--paths', '/*'];
  await aws.ask('cloudfront', 'create-invalidation', '--distribution-id', distribution.physicalId, ...paths);
};

const greet = (person: Conversation, url: string, token: string | undefined): void => {
  person.say(`\nSallyport is at ${url}`);
  if (token === undefined) return;
  person.say(`Open ${url}/#token=${token}`);
  person.say(
    'This is the admin token, and the only time it is shown: AWS has its hash. Keep it where secrets are kept.',
  );
};
