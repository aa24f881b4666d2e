import { describe, expect, test } from 'vitest';
import { environments } from '#shared/config/environment.ts';
import { customMetricsMax, metricNames } from '#shared/domain/metrics.ts';
import { shapes } from '../constructs/platform-function.ts';
import {
  metricsOfAlarms,
  metricsOfDashboard,
  queriesOfDashboard,
  type ShownMetric,
  statisticsOf,
} from './shown-metrics.ts';
import { named, ofType, type Synthesised, synthesise, type Template } from './synthesise.ts';

const all = synthesise();
const { observability } = all;
const alarms = ofType(observability, 'AWS::CloudWatch::Alarm').map(({ Properties }) => Properties);
const alarm = (name: string) => named(observability, 'AWS::CloudWatch::Alarm', `Alarms${name}`).Properties;
const shown = [...metricsOfDashboard(observability), ...metricsOfAlarms(observability)];
const isOurs = ({ namespace }: ShownMetric): boolean => namespace === 'Sallyport';
const functionsCount = Object.keys(environments).length;

describe('alarms', () => {
  test('all notify the topic', () => {
    for (const { AlarmActions } of alarms)
      expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^Topic/) }]);
  });

  test('fire on a single event that must not happen, and on three failed stops', () => {
    const once = { ComparisonOperator: 'GreaterThanOrEqualToThreshold', Threshold: 1, EvaluationPeriods: 1 };
    const never = ['WorkspaceSavesFailed', 'WorkspaceRestoresIncomplete', 'WebhooksDisabled'];
    for (const name of [...never, 'TurnDeadLetters', 'EventDeadLetters'])
      expect(alarm(name)).toMatchObject({ ...once, TreatMissingData: 'notBreaching' });
    // The stop of an orphan is tried in every second period.
    const among = { EvaluationPeriods: 6, DatapointsToAlarm: 3 };
    expect(alarm('SandboxStopsFailed')).toMatchObject({ ...once, ...among });
  });

  test.each([
    ['OrphansStopped', 10],
    ['SlotsCorrected', 5],
  ])(
    'do not fire on %s, whose clearing is the work of the janitor, unless it comes back',
    (name, minutes) => {
      const { Threshold, EvaluationPeriods, TreatMissingData, Metrics } = alarm(name);
      expect({ Threshold, EvaluationPeriods, TreatMissingData }).toEqual({
        ...{ Threshold: 3, EvaluationPeriods: 1, TreatMissingData: 'notBreaching' },
      });
      // One in each of its sweeps is heard.
      expect(Metrics[0].MetricStat.Period / 60 / minutes).toBeGreaterThanOrEqual(Threshold);
    },
  );

  test('notice every failing function, that of the checks by its checks alone', () => {
    const errors = metricsOfAlarms(observability).filter(({ name }) => name === 'Errors');
    expect(errors.map(({ dimensions }) => dimensions['FunctionName']).toSorted()).toEqual(
      Object.keys(environments)
        .filter((name) => name !== 'synthetic')
        .map((name) => name.replaceAll('-', ''))
        .toSorted()
        .map((name) => expect.stringMatching(new RegExp(`Functions${name}Function`))),
    );
  });

  test('notice requests that a function answers with internal_error, which Lambda counts as no error', () => {
    expect(alarm('Faults')).toMatchObject({
      ...{ Namespace: 'Sallyport/sallyport', MetricName: 'Faults', Statistic: 'Sum', Period: 300 },
      ...{ ComparisonOperator: 'GreaterThanOrEqualToThreshold', Threshold: 1, EvaluationPeriods: 2 },
    });
    const filters = ofType(observability, 'AWS::Logs::MetricFilter')
      .map(({ Properties }) => Properties)
      .filter(({ MetricTransformations: [made] }) => made.MetricName === 'Faults');
    expect(filters.map(({ LogGroupName }) => LogGroupName['Fn::GetStackOutput'].OutputName)).toEqual(
      ['socket', 'api', 'mcp', 'relay'].map((name) => expect.stringContaining(`Functions${name}Logs`)),
    );
    for (const { FilterPattern, MetricTransformations } of filters) {
      expect(FilterPattern).toBe('{ ($.event = "request_refused") && ($.code = "internal_error") }');
      expect(MetricTransformations).toEqual([
        { MetricName: 'Faults', MetricNamespace: 'Sallyport/sallyport', MetricValue: '1' },
      ]);
    }
  });

  test('notice a throttled function of this deployment whose caller waits, and no other of the account', () => {
    const throttles = metricsOfAlarms(observability).filter(({ name }) => name === 'Throttles');
    const names = throttles.map(
      ({ dimensions }) => dimensions['FunctionName'] ?? 'every function of the account',
    );
    const waitedFor = ['api', 'authorizer', 'mcp', 'sandboxlink', 'socket', 'turn'];
    expect(names.toSorted()).toEqual(
      waitedFor.map((name) => expect.stringMatching(new RegExp(`Functions${name}Function`))),
    );
  });

  test('notice invocations that were dropped of each function that has no dead-letter queue for them', () => {
    const unkept = Object.entries(shapes)
      .filter(
        ([, { retryAttempts, deadLetters }]) => retryAttempts !== undefined && deadLetters === undefined,
      )
      .map(([name]) => name)
      // An alarm of its own tells that no check has passed.
      .filter((name) => name !== 'synthetic');
    const dropped = metricsOfAlarms(observability).filter(({ name }) => name === 'AsyncEventsDropped');
    expect(unkept.length).toBeGreaterThan(2);
    expect(dropped.map(({ dimensions }) => dimensions['FunctionName']).toSorted()).toEqual(
      unkept
        .map((name) => name.replaceAll('-', ''))
        .toSorted()
        .map((name) => expect.stringMatching(new RegExp(`Functions${name}Function`))),
    );
    // A minute in which functions were throttled passes by itself.
    expect(alarm('InvocationsDropped')).toMatchObject({ Threshold: 1, EvaluationPeriods: 2 });
  });

  test('notice a throttled write of an index, which the metric of the table leaves out', () => {
    const throttles = metricsOfAlarms(observability).filter(({ name }) => name.endsWith('ThrottleEvents'));
    expect(
      throttles.map(({ name, dimensions }) => `${name} ${dimensions['GlobalSecondaryIndexName'] ?? 'table'}`),
    ).toEqual([
      'ReadThrottleEvents table',
      'WriteThrottleEvents table',
      'WriteThrottleEvents due',
      'WriteThrottleEvents owner',
    ]);
    const [sum] = alarm('TableThrottles').Metrics.filter(
      ({ Expression }: { readonly Expression?: string }) => Expression !== undefined,
    );
    expect(sum.Expression).toBe('FILL(m0, 0) + FILL(m1, 0) + FILL(m2, 0) + FILL(m3, 0)');
  });

  test('react within half an hour, and are neither composite nor anomaly alarms, which cost more', () => {
    // The audit log is sealed by the hour, and the check with a sandbox runs by the hour.
    const hourly = ['SealsMissing', 'SyntheticMissingsandbox'].map(alarm);
    const hasten = alarms.filter((one) => !hourly.includes(one));
    expect(hasten).toHaveLength(alarms.length - 2);
    for (const { Period, EvaluationPeriods, Metrics = [] } of hasten) {
      const periods = [
        Period,
        ...Metrics.map((entry: { MetricStat?: { Period: number } }) => entry.MetricStat?.Period),
      ];
      expect(
        Math.max(...periods.filter((seconds) => seconds !== undefined)) * EvaluationPeriods,
      ).toBeLessThanOrEqual(1800);
      expect(JSON.stringify(Metrics)).not.toContain('ANOMALY');
    }
    expect(ofType(observability, 'AWS::CloudWatch::CompositeAlarm')).toEqual([]);
  });

  test('watch thirty-seven metrics beside the errors of each function, each of which is billed', () => {
    expect(metricsOfAlarms(observability).length).toBeLessThanOrEqual(37 + functionsCount);
  });

  test('can notify an operator by mail', () => {
    const told = synthesise({ settings: { alarmEmails: ['operator@example.com'] } }).observability;
    expect(ofType(told, 'AWS::SNS::Subscription').map(({ Properties }) => Properties)).toMatchObject([
      { Protocol: 'email', Endpoint: 'operator@example.com' },
    ]);
  });

  test('notify by mail also through a topic of the operator’s own', () => {
    const alarmTopicArn = 'arn:aws:sns:eu-central-1:111122223333:alarms';
    const told = synthesise({ settings: { alarmEmails: ['operator@example.com'], alarmTopicArn } });
    expect(
      ofType(told.observability, 'AWS::SNS::Subscription').map(({ Properties }) => Properties),
    ).toMatchObject([{ Protocol: 'email', Endpoint: 'operator@example.com', TopicArn: alarmTopicArn }]);
  });

  test('may publish to the topic, whose own policy replaces the one that SNS gives every topic', () => {
    const [policy] = ofType(observability, 'AWS::SNS::TopicPolicy');
    const allowed = policy?.Properties.PolicyDocument.Statement.filter(
      ({ Effect }: { Effect: string }) => Effect === 'Allow',
    );
    expect(allowed).toEqual([
      {
        Sid: 'Alarms',
        Effect: 'Allow',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Action: 'sns:Publish',
        Resource: { Ref: expect.stringMatching(/^Topic/) },
        Condition: {
          StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } },
          ArnLike: {
            'aws:SourceArn': {
              'Fn::Join': [
                '',
                [
                  'arn:',
                  { Ref: 'AWS::Partition' },
                  ':cloudwatch:',
                  { Ref: 'AWS::Region' },
                  ':',
                  { Ref: 'AWS::AccountId' },
                  ':alarm:sallyport-*',
                ],
              ],
            },
          },
        },
      },
    ]);
  });

  test('have names that the topic accepts: CloudFormation begins them with the name of the stack', () => {
    for (const { AlarmName } of alarms) expect(AlarmName).toBeUndefined();
  });
});

describe('the platform’s metrics', () => {
  test('are all on the dashboard', () => {
    const names = metricsOfDashboard(observability)
      .filter(isOurs)
      .map(({ name }) => name);
    expect([...new Set(names)].sort()).toEqual([...metricNames].sort());
  });

  test('have one dimension, so that each name is one metric on the bill', () => {
    const billed = new Set(shown.filter(isOurs).map((metric) => JSON.stringify(metric)));
    expect([...billed].sort()).toEqual(
      metricNames
        .map((name) =>
          JSON.stringify({ namespace: 'Sallyport', name, dimensions: { deployment: 'sallyport' } }),
        )
        .sort(),
    );
    expect(billed.size).toBeLessThanOrEqual(customMetricsMax);
    expect(customMetricsMax).toBe(40);
  });

  test.each(metricNames.filter((name) => name.endsWith('Ms')))(
    '%s is shown by its usual, slow and slowest value, and its count',
    (name) => {
      expect(statisticsOf(observability, name)).toEqual(
        expect.arrayContaining(['p50', 'p95', 'p99', 'SampleCount']),
      );
    },
  );
});

type Stack = Template & { readonly Outputs?: Readonly<Record<string, Output>> };
type Output = {
  readonly Value: { readonly Ref?: string; readonly 'Fn::GetAtt'?: readonly string[] };
};

/** The type of the resource that a reference leads to, through the outputs of its stack. */
const typeOf = (stacks: Synthesised, reference: string): string | undefined => {
  const name = reference.slice(1, -1);
  for (const stack of Object.values(stacks) as readonly Stack[]) {
    const output = stack.Outputs?.[name]?.Value;
    const id = output?.Ref ?? output?.['Fn::GetAtt']?.[0];
    if (id !== undefined) return stack.Resources[id]?.Type;
  }
  return undefined;
};

/** Their owner: AWS counts for a resource that is not there stays empty for ever. */
const owners: Readonly<Record<string, readonly string[]>> = {
  'AWS/Lambda FunctionName': ['AWS::Lambda::Function'],
  'AWS/SQS QueueName': ['AWS::SQS::Queue'],
  'AWS/DynamoDB TableName': ['AWS::DynamoDB::GlobalTable'],
  'AWS/ApiGateway ApiId': ['AWS::ApiGatewayV2::Api'],
  'AWS/Events RuleName': ['AWS::Events::Rule'],
};

describe('metrics of AWS', () => {
  const theirs = shown.filter((metric) => !isOurs(metric));

  test('belong to existing resources', () => {
    const references = theirs.flatMap(({ namespace, dimensions }) =>
      Object.entries(dimensions)
        .filter(([, value]) => value.startsWith('<'))
        .map(([name, value]) => ({ kind: `${namespace} ${name}`, type: typeOf(all, value) })),
    );
    expect(references.length).toBeGreaterThan(40);
    expect([...new Set(references.map(({ kind }) => kind))].sort()).toEqual(Object.keys(owners).sort());
    expect(
      references.filter(({ kind, type }) => type === undefined || !owners[kind]?.includes(type)),
    ).toEqual([]);
  });

  test('or to existing names', () => {
    const names = theirs.flatMap(({ dimensions }) =>
      Object.entries(dimensions).filter(([, value]) => !value.startsWith('<')),
    );
    const [table] = ofType(all.data, 'AWS::DynamoDB::GlobalTable');
    const indexes = table?.Properties.GlobalSecondaryIndexes.map(
      ({ IndexName }: { IndexName: string }) => IndexName,
    );
    const apis = ofType(all.edge, 'AWS::ApiGateway::RestApi').map(({ Properties }) => Properties.Name);
    const known: Readonly<Record<string, readonly string[]>> = {
      GlobalSecondaryIndexName: indexes,
      ApiName: apis,
    };
    expect(names.filter(([name, value]) => !known[name]?.includes(value))).toEqual([]);
    expect([...new Set(names.map(([name]) => name))].sort()).toEqual(Object.keys(known).sort());
  });

  test('are of these kinds', () => {
    expect([...new Set(theirs.map(({ namespace, name }) => `${namespace} ${name}`))].sort()).toEqual([
      'AWS/ApiGateway 4XXError',
      'AWS/ApiGateway 5XXError',
      'AWS/ApiGateway ClientError',
      'AWS/ApiGateway ConnectCount',
      'AWS/ApiGateway Count',
      'AWS/ApiGateway ExecutionError',
      'AWS/ApiGateway IntegrationError',
      'AWS/ApiGateway MessageCount',
      'AWS/DynamoDB ConsumedReadCapacityUnits',
      'AWS/DynamoDB ConsumedWriteCapacityUnits',
      'AWS/DynamoDB ReadThrottleEvents',
      'AWS/DynamoDB WriteThrottleEvents',
      'AWS/Events Invocations',
      'AWS/Lambda AsyncEventsDropped',
      'AWS/Lambda ConcurrentExecutions',
      'AWS/Lambda Duration',
      'AWS/Lambda Errors',
      'AWS/Lambda Invocations',
      'AWS/Lambda Throttles',
      'AWS/SQS ApproximateNumberOfMessagesVisible',
      'Sallyport/sallyport ConnectsUnauthenticated',
      'Sallyport/sallyport Faults',
    ]);
  });
});

describe('queries', () => {
  const saved = ofType(observability, 'AWS::Logs::QueryDefinition').map(({ Properties }) => Properties);

  test('are saved under the name of the deployment, over the logs of every function', () => {
    expect(saved.map(({ Name }) => Name).sort()).toEqual([
      'sallyport/MCP servers by their last status',
      'sallyport/cost by session',
      'sallyport/errors by code',
      'sallyport/one message by its correlation id',
      'sallyport/one session',
      'sallyport/pending approvals, oldest first',
      'sallyport/sandbox starts',
      'sallyport/sandboxes that failed by reason',
      'sallyport/slices that are used up',
      'sallyport/slow turns',
    ]);
    for (const { LogGroupNames } of saved) expect(LogGroupNames).toHaveLength(functionsCount);
  });

  test('of the dashboard are among the saved ones', () => {
    const known = saved.map(({ QueryString }) => QueryString);
    expect(queriesOfDashboard(observability)).toHaveLength(7);
    expect(queriesOfDashboard(observability).filter((query) => !known.includes(query))).toEqual([]);
  });
});
