/**
 * The doctor of a deployment: its account, its stacks and alarms, and its public address, read and judged; with `--check` also a
 * turn and a sandbox. It changes nothing.
 */
import { judgeAccount } from './account-checks.ts';
import { readFacts } from './account-facts.ts';
import { type Aws, findStack, type Held, resourcesOf, stackNames } from './aws.ts';
import type { Command, Target } from './command.ts';
import { type DeploymentFacts, judgeDeployment, parseAnswer } from './doctor-checks.ts';
import { Failure, type Programs } from './programs.ts';
import { ownAddress, smokeTest } from './smoke-test.ts';

export const doctorCommand: Command<'check'> = {
  usage: [
    'usage: npm run doctor [-- --stage <name>] [--region <region>] [--check]',
    '',
    'Reads a deployment and its account, and says what is wrong, with a next step for each. It changes nothing.',
    '',
    '  --check  also runs a turn and a sandbox, and says how long each took',
  ].join('\n'),
  flags: ['check'],
  run: async ({ target, programs, terminal, check }) => {
    const { aws, settings, account, region } = target;
    terminal.say(`Account ${account}, ${region}: deployment ${settings.deployment}`);
    const url = (await findStack(aws, `${settings.deployment}-edge`))?.outputs['Url'];
    if (url === undefined)
      throw new Failure(`there is no deployment ${settings.deployment} in account ${account}, ${region}`, [
        'Choose another: --stage <name> and --region <region>.',
      ]);
    const findings = [
      ...judgeAccount(await readFacts(target), { settings, region, isFirst: false }),
      ...judgeDeployment(await readDeployment(programs, target, url)),
    ];
    for (const { level, problem, next } of findings) terminal.say(`${labels[level]}: ${problem}\n  ${next}`);
    if (check) await smokeTest(target, terminal, await ownAddress(target, url));
    const faults = findings.filter(({ level }) => level === 'stop').length;
    if (faults > 0) throw new Failure(`${faults} faults`);
    terminal.say(findings.length === 0 ? 'Nothing is wrong.' : 'Nothing else is wrong.');
  },
};

const labels = { stop: 'Fault', warn: 'Note', unknown: 'Unknown' } as const;
const refusals = ['AccessDenied', 'AccessDeniedException', 'ResourceNotFoundException'];

const readDeployment = async (
  programs: Programs,
  { aws, settings: { deployment } }: Target,
  url: string,
): Promise<DeploymentFacts> => {
  const stacks = await Promise.all(stackNames.map((name) => findStack(aws, `${deployment}-${name}`)));
  const held = (
    await Promise.all(['network', 'compute'].map((name) => resourcesOf(aws, `${deployment}-${name}`)))
  ).flat();
  const idOf = (type: string): string | undefined => held.find((one: Held) => one.type === type)?.physicalId;
  const get = async (path: string) => {
    const { out } = await programs.quiet('curl', [
      '--silent',
      '--include',
      '--max-time',
      '30',
      `${url}${path}`,
    ]);
    return parseAnswer(out);
  };
  const [refused, encoded] = [await get('/mcp'), await get('/api/sessions/a%2Fb')];
  return {
    stacks: stacks.flatMap((stack) => stack ?? []),
    alarms: await ringing(aws, deployment),
    ...(await dnsOf(aws, idOf('AWS::EC2::VPC'))),
    ...(await authorizerOf(aws, idOf('AWS::ApiGatewayV2::Api'))),
    ...(refused && { refused }),
    ...(encoded && { encoded }),
  };
};

const ringing = async (aws: Aws, deployment: string): Promise<readonly string[]> => {
  const words = ['--state-value', 'ALARM', '--alarm-name-prefix', `${deployment}-observability`] as const;
  const found = await aws.find<{ readonly MetricAlarms: readonly { readonly AlarmName: string }[] }>(
    refusals,
    'cloudwatch',
    'describe-alarms',
    ...words,
  );
  return found?.MetricAlarms.map(({ AlarmName }) => AlarmName) ?? [];
};

const dnsOf = async (aws: Aws, vpc: string | undefined) => {
  if (vpc === undefined) return {};
  const words = ['get-firewall-config', '--resource-id', vpc] as const;
  const found = await aws.find<{ readonly FirewallConfig: { readonly FirewallFailOpen: string } }>(
    refusals,
    'route53resolver',
    ...words,
  );
  return found && { dnsFailsOpen: found.FirewallConfig.FirewallFailOpen !== 'DISABLED' };
};

const authorizerOf = async (aws: Aws, api: string | undefined) => {
  if (api === undefined) return {};
  const found = await aws.find<{
    readonly Items: readonly { readonly IdentitySource?: readonly string[] }[];
  }>(['NotFoundException', ...refusals], 'apigatewayv2', 'get-authorizers', '--api-id', api);
  return found && { identitySources: found.Items.flatMap(({ IdentitySource = [] }) => IdentitySource) };
};
