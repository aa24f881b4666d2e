/**
 * Checks of a deployment's resources as they are, each with the call that reads one: changes by others since the deploy, or a
 * destroy has left half done.
 */
import type { Finding } from './account-checks.ts';
import type { Held } from './aws.ts';

export type ResourceCheck = {
  readonly type: string;
  /** The start of the logical ids that are meant; absent: all of the type. */
  readonly named?: string;
  /** The call names the network of the sandboxes, whose part the resource is. */
  readonly isOfNetwork?: true;
  /** The fact that is not known when the call is refused. */
  readonly about: string;
  /** Arguments of the `aws` program. */
  readonly ask: (id: string) => readonly string[];
  /** The problem that an answer shows. */
  readonly judge: (answer: never, id: string) => Omit<Finding, 'level'> | undefined;
  readonly level: 'stop' | 'warn';
};

const check = <Answer>(
  made: Omit<ResourceCheck, 'judge'> & {
    readonly judge: (answer: Answer, id: string) => Omit<Finding, 'level'> | undefined;
  },
): ResourceCheck => made;

const deployAgain = 'Deploy the same release again: npm run deploy.';

const dnsFirewall = {
  type: 'AWS::Route53Resolver::FirewallRuleGroupAssociation',
  isOfNetwork: true,
} as const;

const networkChecks = [
  check<{ readonly FirewallConfig: { readonly FirewallFailOpen: string } }>({
    ...dnsFirewall,
    level: 'stop',
    about: 'whether the DNS firewall fails closed',
    ask: (id) => ['route53resolver', 'get-firewall-config', '--resource-id', id],
    judge: ({ FirewallConfig }, id) =>
      FirewallConfig.FirewallFailOpen === 'DISABLED'
        ? undefined
        : {
            problem:
              'sandboxes resolve any name while the DNS firewall fails: its configuration is not FirewallFailOpen DISABLED',
            next: `Set it: aws route53resolver update-firewall-config --firewall-fail-open DISABLED --resource-id ${id}`,
          },
  }),
  check<{ readonly FirewallRuleGroupAssociations: readonly { readonly Status: string }[] }>({
    ...dnsFirewall,
    level: 'stop',
    about: 'whether the network has its DNS firewall',
    ask: (id) => ['route53resolver', 'list-firewall-rule-group-associations', '--vpc-id', id],
    judge: ({ FirewallRuleGroupAssociations: found }) =>
      found.some(({ Status }) => Status === 'COMPLETE')
        ? undefined
        : { problem: 'sandboxes resolve any name: the network has no DNS firewall', next: deployAgain },
  }),
  check<{ readonly RouteTables: readonly { readonly Routes?: readonly Route[] }[] }>({
    type: 'AWS::EC2::VPC',
    level: 'stop',
    about: 'the routes of the network',
    ask: (id) => ['ec2', 'describe-route-tables', '--filters', `Name=vpc-id,Values=${id}`],
    judge: ({ RouteTables }, id) =>
      RouteTables.some(({ Routes = [] }) => Routes.some(leadsOut))
        ? {
            problem:
              'sandboxes have a way out: a route table of their network has a route that is not its own or an endpoint’s',
            next: `Find and delete it: aws ec2 describe-route-tables --filters Name=vpc-id,Values=${id}`,
          }
        : undefined,
  }),
];

const interfaceChecks = [
  check<{
    readonly NetworkInterfaces: readonly { readonly NetworkInterfaceId: string; readonly Status: string }[];
  }>({
    type: 'AWS::EC2::VPC',
    level: 'warn',
    about: 'whether Lambda has left the network',
    ask: (id) => [
      ...['ec2', 'describe-network-interfaces', '--filters', `Name=vpc-id,Values=${id}`],
      'Name=interface-type,Values=lambda',
    ],
    judge: ({ NetworkInterfaces }) => {
      const left = NetworkInterfaces.filter(({ Status }) => Status === 'available');
      const ids = left.map(({ NetworkInterfaceId }) => NetworkInterfaceId);
      return ids.length === 0
        ? undefined
        : {
            problem: `Lambda has left the interfaces ${ids.join(', ')} in the network, which no function uses: a destroy waits for them`,
            next: 'If one is still there in an hour, delete it: aws ec2 delete-network-interface --network-interface-id <id>',
          };
    },
  }),
];

/** A route has one target; a gateway, a NAT, a peering and an interface have a field each. */
type Route = { readonly GatewayId?: string };

/** By its target alone: a way to part of the addresses leads out, too. */
const leadsOut = ({ GatewayId = '' }: Route): boolean =>
  GatewayId !== 'local' && !GatewayId.startsWith('vpce-');

const tableChecks = [
  check<{ readonly Table: { readonly DeletionProtectionEnabled?: boolean } }>({
    type: 'AWS::DynamoDB::GlobalTable',
    level: 'stop',
    about: 'whether the table can be deleted',
    ask: (id) => ['dynamodb', 'describe-table', '--table-name', id],
    judge: ({ Table }, id) =>
      Table.DeletionProtectionEnabled === true
        ? undefined
        : {
            problem: 'the table can be deleted by mistake: its deletion protection is off',
            next: `Set it: aws dynamodb update-table --deletion-protection-enabled --table-name ${id}`,
          },
  }),
  check<{
    readonly ContinuousBackupsDescription: {
      readonly PointInTimeRecoveryDescription?: { readonly PointInTimeRecoveryStatus: string };
    };
  }>({
    type: 'AWS::DynamoDB::GlobalTable',
    level: 'stop',
    about: 'the backups of the table',
    ask: (id) => ['dynamodb', 'describe-continuous-backups', '--table-name', id],
    judge: ({ ContinuousBackupsDescription: { PointInTimeRecoveryDescription: recovery } }, id) =>
      recovery?.PointInTimeRecoveryStatus === 'ENABLED'
        ? undefined
        : {
            problem: 'the table cannot be restored: its point-in-time recovery is off',
            next: `Set it: aws dynamodb update-continuous-backups --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true --table-name ${id}`,
          },
  }),
  check<{ readonly TimeToLiveDescription: { readonly TimeToLiveStatus: string } }>({
    type: 'AWS::DynamoDB::GlobalTable',
    level: 'stop',
    about: 'the expiry of items',
    ask: (id) => ['dynamodb', 'describe-time-to-live', '--table-name', id],
    judge: ({ TimeToLiveDescription: { TimeToLiveStatus } }, id) =>
      ['ENABLED', 'ENABLING'].includes(TimeToLiveStatus)
        ? undefined
        : {
            problem: 'old items stay and are paid for: the table has no time to live',
            next: `Set it: aws dynamodb update-time-to-live --time-to-live-specification Enabled=true,AttributeName=ttl --table-name ${id}`,
          },
  }),
];

const sealChecks = [
  check<{
    readonly ObjectLockConfiguration: {
      readonly Rule?: { readonly DefaultRetention?: { readonly Mode?: string; readonly Days?: number } };
    };
  }>({
    type: 'AWS::S3::Bucket',
    named: 'Seals',
    level: 'stop',
    about: 'whether seals are locked',
    ask: (id) => ['s3api', 'get-object-lock-configuration', '--bucket', id],
    judge: ({ ObjectLockConfiguration: { Rule } }, id) =>
      Rule?.DefaultRetention?.Mode === undefined
        ? {
            problem: `new seals of the audit log can be deleted: bucket ${id} has no default retention`,
            next: deployAgain,
          }
        : undefined,
  }),
];

const functionChecks = [
  check<{ readonly ReservedConcurrentExecutions?: number } | undefined>({
    type: 'AWS::Lambda::Function',
    level: 'stop',
    about: 'whether functions may run',
    ask: (id) => ['lambda', 'get-function-concurrency', '--function-name', id],
    judge: (answer, id) =>
      answer?.ReservedConcurrentExecutions === 0
        ? {
            problem: `the function ${id} may not run: its reserved concurrency is 0, as an interrupted destroy or restore leaves it`,
            next: `Finish what was interrupted: npm run restore opens it at its end. Or let it run: aws lambda delete-function-concurrency --function-name ${id}`,
          }
        : undefined,
  }),
  check<{ readonly Items: readonly { readonly IdentitySource?: readonly string[] }[] }>({
    type: 'AWS::ApiGatewayV2::Api',
    level: 'stop',
    about: 'the authorizer of the WebSocket',
    ask: (id) => ['apigatewayv2', 'get-authorizers', '--api-id', id],
    judge: ({ Items }) => {
      const sources = Items.flatMap(({ IdentitySource = [] }) => IdentitySource);
      return sources.length === 0
        ? undefined
        : {
            problem: `the authorizer of the WebSocket asks for ${sources.join(', ')}, and refuses tickets without it`,
            next: 'Compare the authorizer with the compute stack: it has no identity source.',
          };
    },
  }),
];

const ruleChecks = [
  check<{ readonly State?: string }>({
    type: 'AWS::Events::Rule',
    level: 'stop',
    about: 'whether rules are enabled',
    ask: (id) => ['events', 'describe-rule', '--name', id],
    judge: ({ State }, id) =>
      State === 'DISABLED'
        ? {
            problem: `the rule ${id} is disabled, so its function is not invoked; some alarms do not report this`,
            next: `Enable it: aws events enable-rule --name ${id}`,
          }
        : undefined,
  }),
];

const messageChecks = [
  check<{ readonly Attributes?: { readonly ApproximateNumberOfMessages?: string } }>({
    type: 'AWS::SQS::Queue',
    level: 'warn',
    about: 'the messages of a dead-letter queue',
    ask: (id) => [
      ...['sqs', 'get-queue-attributes', '--queue-url', id],
      ...['--attribute-names', 'ApproximateNumberOfMessages'],
    ],
    judge: ({ Attributes }, id) => {
      const count = Number(Attributes?.ApproximateNumberOfMessages ?? 0);
      return count === 0
        ? undefined
        : {
            problem: `${count} invocations failed for good: they are in the queue ${id.split('/').at(-1)}`,
            next: 'docs/runbook.md says, under the alarm of that queue, how to read them and what to do.',
          };
    },
  }),
  check<{
    readonly Subscriptions: readonly { readonly SubscriptionArn: string; readonly Endpoint: string }[];
  }>({
    type: 'AWS::SNS::Topic',
    level: 'warn',
    about: 'the recipients of alarms',
    ask: (id) => ['sns', 'list-subscriptions-by-topic', '--topic-arn', id],
    judge: ({ Subscriptions }) => {
      const waiting = Subscriptions.filter(
        ({ SubscriptionArn }) => SubscriptionArn === 'PendingConfirmation',
      );
      return waiting.length === 0
        ? undefined
        : {
            problem: `${waiting.map(({ Endpoint }) => Endpoint).join(', ')} receives no alarm: the subscription is not confirmed`,
            next: 'Follow the link in the message of AWS Notifications. The link expires after two days. A new deploy does not send another.',
          };
    },
  }),
];

const resourceChecks: readonly ResourceCheck[] = [
  ...networkChecks,
  ...interfaceChecks,
  ...tableChecks,
  ...sealChecks,
  ...functionChecks,
  ...ruleChecks,
  ...messageChecks,
];

export const checksOf = ({ type, id }: Pick<Held, 'type' | 'id'>): readonly ResourceCheck[] =>
  resourceChecks.filter((one) => one.type === type && id.startsWith(one.named ?? ''));

/** The finding of an answer about a resource; undefined stands for a refused call. */
export const judgeResource = (
  { about, level, judge }: ResourceCheck,
  id: string,
  read: { readonly answer: unknown } | undefined,
): readonly Finding[] => {
  if (read === undefined)
    return [
      {
        level: 'unknown',
        problem: `${about} cannot be read`,
        next: 'Ask the administrator of the account for the right to read it, or check it in the console.',
      },
    ];
  const found = judge(read.answer as never, id);
  return found === undefined ? [] : [{ level, ...found }];
};
