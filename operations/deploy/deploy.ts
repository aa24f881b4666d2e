/**
 * A deploy from its preflight to its address. It prints the cost before it creates anything, and each step when it begins.
 *
 * The first deploy creates the admin token. AWS stores only its hash. The token is printed once, as soon as the stacks have the
 * hash, and stored nowhere. A later deploy keeps it, unless the deploy that created it was interrupted before it was shown.
 */
import { resolve } from 'node:path';
import { hashedFileCaching, pageCaching } from '#shared/config/web-headers.ts';
import { inRepository } from '../../infra/constructs/repository-path.ts';
import { synthesise } from '../../infra/stacks/synthesise.ts';
import { idleBill } from '../cost/idle-bill.ts';
import {
  type AdminToken,
  makeToken,
  readTokenState,
  recordPending,
  showOnce,
  type TokenState,
} from './admin-token.ts';
import { findStack, resourcesOf } from './aws.ts';
import type { Command, Target, Terminal } from './command.ts';
import { checkPreflight } from './preflight.ts';
import { Failure, type Programs } from './programs.ts';
import { figuresOfLeaving, releaseVersion, writeRelease } from './release-figures.ts';
import { ownAddress, smokeTest } from './smoke-test.ts';
import { chooseParameters } from './stack-parameters.ts';
import { putToken, tokenSecret } from './token-secret.ts';

type DeployRequest = {
  readonly target: Target;
  readonly programs: Programs;
  readonly terminal: Terminal;
  /** Without questions. */
  readonly yes: boolean;
  /** A new admin token instead of the existing one. */
  readonly newToken: boolean;
  /** The token goes to Secrets Manager and not to the terminal. */
  readonly tokenToSecret: boolean;
  /** Without the smoke test. */
  readonly noCheck: boolean;
};

const deploy = async (request: DeployRequest): Promise<void> => {
  const { target, programs, terminal } = request;
  const { settings, account, region, stage, aws } = target;
  const { deployment } = settings;
  terminal.say(`Account ${account}, ${region}, stage ${stage}: deployment ${deployment}`);
  const facts = await checkPreflight(programs, target, terminal.say);
  terminal.say('Credentials, Docker and the bootstrap of the CDK are in place.');
  const known = await readTokenState(aws, deployment);
  terminal.say(`${sayings[known]} ${costsOf(target)}`);
  if (known !== 'none') await showPermissions(request);
  if (!request.yes && !(await terminal.agrees(`Deploy ${deployment} to ${account}? [yes/no] `, 'yes')))
    throw new Failure('nothing was deployed');
  await run(request, {
    says: 'Building the web app',
    program: 'npm',
    args: ['run', '--silent', 'build:web'],
  });
  const token = known === 'shown' && !request.newToken ? undefined : makeToken();
  if (token !== undefined) await recordPending(aws, deployment, token);
  const parameters = await chooseParameters(target, facts);
  const args = cdkArguments(target, token, parameters);
  const last = known === 'none' ? undefined : await figuresOfLeaving(aws, deployment, Date.now());
  await run(request, { says: 'Deploying the stacks', program: 'cdk', args });
  await writeRelease(aws, deployment, { version: releaseVersion(), ...(last && { last }) });
  const url = await findUrl(target);
  if (token !== undefined) await handOver(request, url, token);
  await putWeb(request);
  terminal.say(`\nSallyport is at ${url}`);
  const own = await ownAddress(target, url);
  if (own !== url)
    terminal.say(`Its name needs a CNAME in your DNS: ${new URL(url).host} -> ${new URL(own).host}`);
  if (!request.noCheck) await smokeTest(target, terminal, own);
};

/** Before the question, and in the log of a deploy without one. */
const showPermissions = (request: DeployRequest): Promise<void> =>
  run(request, {
    says: 'Changes of permissions',
    program: 'cdk',
    args: ['diff', '--all', '--security-only', ...contextOf(request.target)],
  });

const sayings: Readonly<Record<TokenState, string>> = {
  none: 'A first deploy.',
  pending: 'An upgrade. The previous deploy never showed its admin token, so this deploy creates a new one.',
  shown: 'An upgrade. It keeps the admin token: --new-token makes another.',
};

/** The address from the edge stack, in whatever state an earlier deploy left it. */
const findUrl = async ({ aws, settings }: Target): Promise<string> => {
  const edge = `${settings.deployment}-edge`;
  const url = (await findStack(aws, edge))?.outputs['Url'];
  if (url === undefined)
    throw new Failure('the stacks are deployed but name no address', [`Look at the outputs of ${edge}.`]);
  return url;
};

const costsOf = ({ settings }: Target): string => {
  const { usd } = idleBill(synthesise({ settings }));
  return `While idle it costs about $${usd.toFixed(2)} a month in us-east-1: npm run cost lists the items.`;
};

/** The CDK finds a file of settings from the repository's folder. */
const contextOf = ({ stage, settingsPath }: Target): readonly string[] => [
  '--context',
  `stage=${stage}`,
  ...(settingsPath ? ['--context', `settings=${resolve(settingsPath)}`] : []),
];

const cdkArguments = (
  target: Target,
  token: AdminToken | undefined,
  chosen: readonly string[],
): readonly string[] => [
  'deploy',
  '--all',
  '--require-approval',
  'never',
  // A stack reads the values of others when it is updated, also where its own template is unchanged.
  '--force',
  ...contextOf(target),
  ...[
    ...(token === undefined ? [] : [`${target.settings.deployment}-compute:AdminTokenSha256=${token.hash}`]),
    ...chosen,
  ].flatMap((parameter) => ['--parameters', parameter]),
];

/** Output is shown while the program runs; a failing program prints its own reason. */
const run = async ({ programs, terminal }: DeployRequest, step: Step): Promise<void> => {
  terminal.say(`\n${step.says} …`);
  const code = await programs.shown(step.program, step.args);
  if (code !== 0)
    throw new Failure(`${step.program} ${step.args[0]} ended with ${code}`, [
      'Its output above has the reason. Nothing is lost: npm run deploy continues where it stopped.',
    ]);
};

type Step = { readonly says: string; readonly program: string; readonly args: readonly string[] };

/** Files with a hash in their names remain for browsers with the old page; the page itself is not cached. */
const putWeb = async (request: DeployRequest): Promise<void> => {
  const { aws, settings, region } = request.target;
  const edge = `${settings.deployment}-edge`;
  const bucket = (await findStack(aws, edge))?.outputs['WebBucket'];
  const distribution = (await resourcesOf(aws, edge)).find(
    ({ type }) => type === 'AWS::CloudFront::Distribution',
  );
  if (bucket === undefined || distribution === undefined)
    throw new Failure('the stacks are deployed but name no bucket for the web app', [
      `Look at the outputs of ${edge}.`,
    ]);
  const copy = (from: string, to: string, more: readonly string[]) =>
    run(request, {
      says: `Copying the web app: ${to === '' ? 'the page' : to}`,
      program: 'aws',
      args: ['s3', 'sync', from, `s3://${bucket}/${to}`, '--region', region, '--only-show-errors', ...more],
    });
  // The files of a page are copied before the page.
  await copy(inRepository('web/dist/assets'), 'assets', ['--cache-control', hashedFileCaching]);
  await copy(inRepository('web/dist'), '', ['--exclude', 'assets/*', '--cache-control', pageCaching]);
  const paths = ['--paths', '/*'];
  await aws.ask('cloudfront', 'create-invalidation', '--distribution-id', distribution.physicalId, ...paths);
};

/** To the terminal, or to Secrets Manager where none is read. */
const handOver = async (
  { target, terminal, tokenToSecret }: DeployRequest,
  url: string,
  token: AdminToken,
) => {
  const { aws, settings } = target;
  const { deployment } = settings;
  if (tokenToSecret) await putToken(aws, deployment, token.text);
  await showOnce({ aws, deployment, token }, () => {
    if (tokenToSecret) terminal.say(`\nThe admin token is in the secret ${tokenSecret(deployment)}.`);
    else showToken(terminal, url, token);
  });
};

const showToken = (terminal: Terminal, url: string, { text }: AdminToken): void => {
  terminal.say(`\nOpen ${url}/#token=${text}`);
  terminal.say(
    'The address opens when the deploy has ended. It contains the admin token, shown only once: AWS stores its hash. Keep it with your secrets.',
  );
};

export const deployCommand: Command<'new-token' | 'no-check' | 'token-to-secret'> = {
  usage: [
    'usage: npm run deploy [-- --stage <name>] [--region <region>] [--settings <file>] [--yes] [--new-token] [--token-to-secret] [--no-check]',
    '',
    'Deploys or upgrades a stage of infra/settings.ts (production) in the account of your AWS credentials.',
    'Needs the aws program, Docker that builds for arm64, and an account bootstrapped for the CDK.',
    '',
    '  --settings   a JSON file of settings over those of the stage (SALLYPORT_SETTINGS)',
    '  --yes        does not ask for confirmation',
    '  --new-token  creates another admin token; the old one stops working',
    '  --token-to-secret  stores the token in Secrets Manager instead of printing it',
    '  --no-check   does not run a turn and a sandbox at the end',
  ].join('\n'),
  flags: ['new-token', 'no-check', 'token-to-secret'],
  run: ({ 'new-token': newToken, 'no-check': noCheck, 'token-to-secret': tokenToSecret, ...request }) =>
    deploy({ ...request, newToken, noCheck, tokenToSecret }),
};
