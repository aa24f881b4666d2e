/**
 * Logs Insights queries over the log lines of the functions: saved ones, and what the dashboard shows as tables.
 *
 * They read fields that lines carry (`event`, `code`, `sessionId`, `correlation_id`), never a message's words. A test
 * holds each event and each field against the lines of a run. Syntax:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html
 */
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Watched } from './monitored.ts';

export type Query = { readonly name: string; readonly lines: readonly string[] };

export const byCorrelationId: Query = {
  name: 'one message by its correlation id',
  lines: [
    'fields @timestamp, service, level, message, event, code, sessionId, @message',
    '| filter correlation_id = "<correlation id>"',
    '| sort @timestamp asc',
    '| limit 1000',
  ],
};

export const bySession: Query = {
  name: 'one session',
  lines: [
    'fields @timestamp, service, level, message, event, code, correlation_id, @message',
    '| filter sessionId = "<session id>"',
    '| sort @timestamp asc',
    '| limit 1000',
  ],
};

export const slowTurns: Query = {
  name: 'slow turns',
  lines: [
    'fields @timestamp, durationMs, stopReason, sessionId, provider, model, correlation_id',
    '| filter event = "turn_ended" and ispresent(durationMs)',
    '| sort durationMs desc',
    '| limit 50',
  ],
};

export const errorsByCode: Query = {
  name: 'errors by code',
  lines: [
    'filter event in ["request_refused", "turn_ended"] and ispresent(code)',
    '| stats count(*) as errors by code, event, service',
    '| sort errors desc',
    '| limit 100',
  ],
};

export const sandboxStarts: Query = {
  name: 'sandbox starts',
  lines: [
    'filter event = "sandbox_started"',
    '| stats count(*) as starts, pct(startMs, 50) as p50, pct(startMs, 95) as p95, pct(startMs, 99) as p99 by source, flavor',
    '| sort starts desc',
  ],
};

export const sandboxFailures: Query = {
  name: 'sandboxes that failed by reason',
  lines: [
    'filter event in ["sandbox_start_failed", "sandbox_lost"]',
    '| stats count(*) as sandboxes, max(@timestamp) as last by event, reason',
    '| sort sandboxes desc',
    '| limit 50',
  ],
};

/** A call that waits has one kind of line, one that was decided or cancelled two. */
export const approvalsWaiting: Query = {
  name: 'approvals that wait, oldest first',
  lines: [
    'filter event in ["approval_asked", "approval_over"]',
    '| stats count_distinct(event) as said, min(@timestamp) as askedAt by sessionId, callId',
    '| filter said = 1',
    '| sort askedAt asc',
    '| limit 100',
  ],
};

export const costBySession: Query = {
  name: 'cost by session',
  lines: [
    'filter event = "turn_ended"',
    '| stats max(sessionCostUsd) as usd, count(*) as turns by sessionId, project, provider, model',
    '| sort usd desc',
    '| limit 50',
  ],
};

export const mcpServers: Query = {
  name: 'MCP servers by their last status',
  lines: [
    'filter event = "mcp_status"',
    '| stats latest(status) as lastStatus, max(@timestamp) as since, count(*) as changes by project, name',
    '| sort since desc',
    '| limit 50',
  ],
};

export const queries: readonly Query[] = [
  byCorrelationId,
  bySession,
  slowTurns,
  errorsByCode,
  sandboxStarts,
  sandboxFailures,
  approvalsWaiting,
  costBySession,
  mcpServers,
];

/** The queries of an operator, saved in CloudWatch Logs Insights under the deployment's name. They cost nothing until they run. */
export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, { deployment, functions }: Watched) {
    super(scope, id);
    const logGroupNames = functions.map(({ lambda }) => lambda.logGroup.logGroupName);
    for (const { name, lines } of queries)
      new CfnQueryDefinition(this, idOf(name), {
        name: `${deployment}/${name}`,
        logGroupNames,
        queryString: lines.join('\n'),
      });
  }
}

/** A definition goes by what it is called. */
const idOf = (name: Query['name']): string =>
  name
    .split(/[ ,]+/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');
