/**
 * The web firewall in front of CloudFront, which lives in us-east-1 wherever the other stacks are
 * (https://docs.aws.amazon.com/waf/latest/developerguide/cloudfront-features.html), and the transfer of its ARN.
 *
 * It judges the sender of a request, and never its body: prompts, files and programs look like attacks to rules that
 * search for code.
 */
import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { cloudFrontRegion } from '../settings.ts';
import { addLogGroup, type LogOptions } from './log-group.ts';
import { acknowledgeCustomResource } from './nag-exceptions.ts';

export type WebFirewallProps = {
  /** Names the parameter that holds the ARN: unique in an account. */
  readonly deployment: string;
};

/** The window in which WAF counts a rate. */
const windowSeconds = 300;
/** Of one address, before it is refused: ten a second. */
const requestsPerWindowMax = 3000;

const firewallParameter = (deployment: string): string => `/sallyport/${deployment}/web-firewall-arn`;

export class WebFirewall extends Construct {
  readonly arn: string;

  constructor(scope: Construct, id: string, { deployment }: WebFirewallProps) {
    super(scope, id);
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: visibilityAs(`${deployment}-web-firewall`),
      customResponseBodies: { rateLimited: { contentType: 'APPLICATION_JSON', content: rateLimited } },
      rules: [reputation, rate],
    });
    this.arn = acl.attrArn;
    new StringParameter(this, 'Arn', {
      parameterName: firewallParameter(deployment),
      stringValue: acl.attrArn,
      description: 'Sallyport: the web firewall of its CloudFront distribution',
    });
  }
}

const visibilityAs = (metricName: string): CfnWebACL.VisibilityConfigProperty => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: true,
});

/** The error of `shared/errors.ts`, in its shape. */
const rateLimited = JSON.stringify({
  error: {
    code: 'rate_limited',
    message: 'too many requests',
    suggestions: ['Wait as long as Retry-After says, then try again.'],
    recoveryActions: [],
    requestId: 'none',
  },
});

/** Addresses from which Amazon has seen attacks (https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-ip-rep.html). */
const reputation: CfnWebACL.RuleProperty = {
  name: 'reputation',
  priority: 0,
  overrideAction: { none: {} },
  statement: {
    managedRuleGroupStatement: { vendorName: 'AWS', name: 'AWSManagedRulesAmazonIpReputationList' },
  },
  visibilityConfig: visibilityAs('reputation'),
};

const rate: CfnWebACL.RuleProperty = {
  name: 'rate',
  priority: 1,
  action: {
    block: {
      customResponse: {
        responseCode: 429,
        customResponseBodyKey: 'rateLimited',
        // An address that sends nothing for a whole window is below every rate.
        responseHeaders: [{ name: 'Retry-After', value: String(windowSeconds) }],
      },
    },
  },
  statement: {
    rateBasedStatement: {
      limit: requestsPerWindowMax,
      aggregateKeyType: 'IP',
      evaluationWindowSec: windowSeconds,
    },
  },
  visibilityConfig: visibilityAs('rate'),
};

/**
 * The ARN of the web firewall, read at deploy from its region. CloudFormation passes nothing between regions, and a
 * stack that knows its region at synth could not be deployed elsewhere by the same template.
 */
export type WebFirewallArnProps = { readonly deployment: string; readonly logs: LogOptions };

export class WebFirewallArn extends Construct {
  readonly arn: string;

  constructor(scope: Construct, id: string, { deployment, logs }: WebFirewallArnProps) {
    super(scope, id);
    const { partition, account } = Stack.of(this);
    const name = firewallParameter(deployment);
    const call = {
      service: 'SSM',
      action: 'GetParameter',
      parameters: { Name: name },
      region: cloudFrontRegion,
      physicalResourceId: PhysicalResourceId.of('web-firewall-arn'),
      outputPaths: ['Parameter.Value'],
    };
    const answer = new AwsCustomResource(this, 'Answer', {
      onCreate: call,
      onUpdate: call,
      installLatestAwsSdk: false,
      logGroup: addLogGroup(this, 'Logs', logs),
      policy: AwsCustomResourcePolicy.fromStatements([
        new PolicyStatement({
          actions: ['ssm:GetParameter'],
          resources: [`arn:${partition}:ssm:${cloudFrontRegion}:${account}:parameter${name}`],
        }),
      ]),
    });
    acknowledgeCustomResource(this);
    this.arn = answer.getResponseField('Parameter.Value');
  }
}
