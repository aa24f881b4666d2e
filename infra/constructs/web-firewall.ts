/**
 * The web firewall before CloudFront, which lives in us-east-1 wherever the rest is
 * (https://docs.aws.amazon.com/waf/latest/developerguide/cloudfront-features.html), and its ARN where the rest can
 * read it.
 *
 * It judges who asks, and never what is in a body: prompts, files and programs look like attacks to rules that
 * search for code.
 */

import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { cloudFrontRegion } from '../settings.ts';
import { acknowledgeAsker } from './acknowledge.ts';
import { keptLog, type LogKeeping } from './log-group.ts';

export type FrontFirewallProps = {
  /** Names the parameter that holds the ARN: unique in an account. */
  readonly deployment: string;
  /** Of one address, before it has to wait. Absent: 3000, ten a second. */
  readonly requestsPerFiveMinutesMax?: number;
};

/** As WAF counts a rate. */
const windowSeconds = 300;
const requestsMaxDefault = 3000;

export const firewallParameter = (deployment: string): string =>
  `/sallyport/${deployment}/front-firewall-arn`;

export class FrontFirewall extends Construct {
  readonly arn: string;

  constructor(
    scope: Construct,
    id: string,
    { deployment, requestsPerFiveMinutesMax = requestsMaxDefault }: FrontFirewallProps,
  ) {
    super(scope, id);
    const acl = new CfnWebACL(this, 'Acl', {
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: seenAs(`${deployment}-front`),
      customResponseBodies: { rateLimited: { contentType: 'APPLICATION_JSON', content: rateLimited } },
      rules: [reputation, rate(requestsPerFiveMinutesMax)],
    });
    this.arn = acl.attrArn;
    new StringParameter(this, 'Arn', {
      parameterName: firewallParameter(deployment),
      stringValue: acl.attrArn,
      description: 'Sallyport: the web firewall of its CloudFront distribution',
    });
  }
}

const seenAs = (metricName: string): CfnWebACL.VisibilityConfigProperty => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: true,
});

/** In the words and the shape of `shared/errors.ts`. */
const rateLimited = JSON.stringify({
  error: {
    code: 'rate_limited',
    message: 'too many requests',
    suggestions: [],
    recoveryActions: [],
    requestId: 'none',
  },
});

/** Addresses that Amazon knows for attacks (https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-ip-rep.html). */
const reputation: CfnWebACL.RuleProperty = {
  name: 'reputation',
  priority: 0,
  overrideAction: { none: {} },
  statement: {
    managedRuleGroupStatement: { vendorName: 'AWS', name: 'AWSManagedRulesAmazonIpReputationList' },
  },
  visibilityConfig: seenAs('reputation'),
};

const rate = (limit: number): CfnWebACL.RuleProperty => ({
  name: 'rate',
  priority: 1,
  action: {
    block: { customResponse: { responseCode: 429, customResponseBodyKey: 'rateLimited' } },
  },
  statement: {
    rateBasedStatement: { limit, aggregateKeyType: 'IP', evaluationWindowSec: windowSeconds },
  },
  visibilityConfig: seenAs('rate'),
});

/**
 * The ARN of the web firewall, read at deploy from the region it has to live in.
 *
 * CloudFormation passes nothing between regions, and a stack that knows its region at synth could not be deployed
 * elsewhere by the same template.
 */
export type FirewallArnProps = { readonly deployment: string; readonly logs: LogKeeping };

export class FirewallArn extends Construct {
  readonly arn: string;

  constructor(scope: Construct, id: string, { deployment, logs }: FirewallArnProps) {
    super(scope, id);
    const { partition, account } = Stack.of(this);
    const name = firewallParameter(deployment);
    const call = {
      service: 'SSM',
      action: 'GetParameter',
      parameters: { Name: name },
      region: cloudFrontRegion,
      physicalResourceId: PhysicalResourceId.of('front-firewall-arn'),
      outputPaths: ['Parameter.Value'],
    };
    const answer = new AwsCustomResource(this, 'Answer', {
      onCreate: call,
      onUpdate: call,
      installLatestAwsSdk: false,
      logGroup: keptLog(this, 'Logs', logs),
      policy: AwsCustomResourcePolicy.fromStatements([
        new PolicyStatement({
          actions: ['ssm:GetParameter'],
          resources: [`arn:${partition}:ssm:${cloudFrontRegion}:${account}:parameter${name}`],
        }),
      ]),
    });
    acknowledgeAsker(this);
    this.arn = answer.getResponseField('Parameter.Value');
  }
}
