/**
 * A deploy from its preflight to its address: it prints the cost before it creates anything, and each step as it begins.
 *
 * The first deploy creates the admin token. AWS stores its hash; the token is printed once, at the end, and stored
 * nowhere. A later deploy keeps the token; one that failed has printed none, so the next creates another.
 */
import { createHash, randomBytes } from 'node:crypto';
import { hashedFileCaching, pageCaching } from '#shared/config/web-headers.ts';
import { inRepository } from '../../infra/constructs/assets.ts';
import { cloudFrontRegion } from '../../infra/settings.ts';
import { synthesise } from '../../infra/stacks/synthesise.ts';
import { idleBill } from '../cost/idle-bill.ts';
import { type Aws, findStack, resourcesOf } from './aws.ts';
import type { Command, Target, Terminal } from './command.ts';
import { Failure, type Programs } from './programs.ts';

type DeployRequest = {
  readonly target: Target;
  readonly programs: Programs;
  readonly terminal: Terminal;
  /** Without questions. */
  readonly yes: boolean;
  /** A new admin token instead of the existing one. */
  readonly newToken: boolean;
};

export const deploy = async (request: DeployRequest): Promise<void> => {
  const { target, programs, terminal } = request;
  const { settings, account, region, stage } = target;
  const { deployment } = settings;
  terminal.say(`Account ${account}, ${region}, stage ${stage}: deployment ${deployment}`);
  await checkPreflight(programs, target);
  terminal.say('Credentials, Docker and the bootstrap of the CDK are in place.');
  const isComplete = (await findUrl(target)) !== undefined;
  terminal.say(`${isComplete ? 'An upgrade' : 'A first deploy'}. ${costsOf(target)}`);
  if (!request.yes && !(await terminal.agrees(`Deploy ${deployment} to ${account}? [yes/no] `, 'yes')))
    throw new Failure('nothing was deployed');
  const token = isComplete && !request.newToken ? undefined : `sp_${randomBytes(32).toString('hex')}`;
  await run(request, {
    says: 'Building the web app',
    program: 'npm',
    args: ['run', '--silent', 'build:web'],
  });
  await run(request, { says: 'Deploying the stacks', program: 'cdk', args: cdkArguments(target, token) });
  await putWeb(request);
  const url = await findUrl(target);
  if (url === undefined)
    throw new Failure('the stacks are deployed but name no address', [
      `Look at the outputs of ${deployment}-edge.`,
    ]);
  printAddress(terminal, url, token);
};

/** The address from the edge stack; undefined before a deploy has completed. */
const findUrl = async ({ aws, settings }: Target): Promise<string | undefined> => {
  const stack = await findStack(aws, `${settings.deployment}-edge`);
  return stack !== undefined && /^(?:CREATE|UPDATE)_COMPLETE$|^UPDATE_ROLLBACK_COMPLETE$/.test(stack.status)
    ? stack.outputs['Url']
    : undefined;
};

const costsOf = ({ settings }: Target): string => {
  const { usd } = idleBill(synthesise({ settings }));
  return `While idle it costs about $${usd.toFixed(2)} a month in us-east-1: npm run cost lists the items.`;
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

const printAddress = (terminal: Terminal, url: string, token: string | undefined): void => {
  terminal.say(`\nSallyport is at ${url}`);
  if (token === undefined) return;
  terminal.say(`Open ${url}/#token=${token}`);
  terminal.say('This is the admin token, shown only once: AWS stores its hash. Keep it with your secrets.');
};

export const deployCommand: Command<'new-token'> = {
  usage: [
    'usage: npm run deploy [-- --stage <name>] [--region <region>] [--yes] [--new-token]',
    '',
    'Deploys or upgrades a stage of infra/settings.ts (production) in the account of your AWS credentials.',
    'Needs the aws program, Docker that builds for arm64, and an account bootstrapped for the CDK.',
    '',
    '  --yes        does not ask for confirmation',
    '  --new-token  creates another admin token; the old one stops working',
  ].join('\n'),
  flags: ['new-token'],
  run: ({ 'new-token': newToken, ...request }) => deploy({ ...request, newToken }),
};

/** The oldest bootstrap whose roles and buckets the stacks can use (https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html). */
const bootstrapVersionMin = 6;

type Problem = { readonly problem: string; readonly next: string };

/** Docker builds for arm64, and the account is bootstrapped for the CDK. One failure lists every problem. */
const checkPreflight = async (programs: Programs, target: Target): Promise<void> => {
  const { aws, account, region, settings } = target;
  const regions = [...new Set(settings.firewall ? [region, cloudFrontRegion] : [region])];
  const problems = [
    await dockerProblem(programs),
    ...(await Promise.all(regions.map((one) => bootstrapProblem(aws.in(one), account)))),
  ].filter((problem) => problem !== undefined);
  if (problems.length === 0) return;
  throw new Failure(
    problems.map(({ problem }) => problem).join('; '),
    problems.map(({ next }) => next),
  );
};

const dockerProblem = async (programs: Programs): Promise<Problem | undefined> => {
  const version = await programs.quiet('docker', ['version', '--format', '{{.Server.Arch}}']);
  if (version.code !== 0)
    return {
      problem: 'Docker does not answer',
      next: 'Start Docker, or wait until it has started: docker version must name a server.',
    };
  if (version.out.trim() === 'arm64') return undefined;
  const builders = await programs.quiet('docker', ['buildx', 'inspect', '--bootstrap']);
  if (builders.code === 0 && builders.out.includes('linux/arm64')) return undefined;
  return {
    problem: `Docker on ${version.out.trim()} does not build for arm64, which sandboxes run on`,
    next: 'Add QEMU: docker run --privileged --rm tonistiigi/binfmt --install arm64',
  };
};

const bootstrapProblem = async (aws: Aws, account: string): Promise<Problem | undefined> => {
  const found = await aws.find<{ readonly Parameter: { readonly Value: string } }>(
    ['ParameterNotFound'],
    'ssm',
    'get-parameter',
    '--name',
    '/cdk-bootstrap/hnb659fds/version',
  );
  const environment = `aws://${account}/${aws.region}`;
  const next = `Bootstrap it: npx cdk bootstrap ${environment}`;
  if (found === undefined) return { problem: `${environment} is not bootstrapped for the CDK`, next };
  const version = Number(found.Parameter.Value);
  return version >= bootstrapVersionMin
    ? undefined
    : {
        problem: `${environment} is bootstrapped with version ${version}, and ${bootstrapVersionMin} is the oldest that works`,
        next,
      };
};
