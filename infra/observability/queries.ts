/**
 * Logs Insights queries over the log lines of the functions, saved under the deployment's name; the dashboard shows some as tables.
 *
 * They read fields of the lines (`event`, `code`, `sessionId`, `correlation_id`), never the text of a message. A test
 * compares each event and each field with the lines of a run. Syntax:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html
 */
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Monitored } from './monitored.ts';

export type Query = { readonly name: string; readonly lines: readonly string[] };

const byCorrelationId: Query = {
  name: 'one message by its correlation id',
  lines: [
    'fields @timestamp, service, level, message, event, code, sessionId, @message',
    '| filter correlation_id = "<correlation id>"',
    '| sort @timestamp asc',
    '| limit 1000',
  ],
};

const bySession: Query = {
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

const sandboxStarts: Query = {
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

/** A waiting call has one kind of line, a decided or cancelled one has two. */
export const approvalsWaiting: Query = {
  name: 'pending approvals, oldest first',
  lines: [
    'filter event in ["approval_asked", "approval_over"]',
    '| stats count_distinct(event) as events, min(@timestamp) as askedAt by sessionId, callId',
    '| filter events = 1',
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

/** Refusals, and sandboxes that were stopped for it. */
export const slicesUsedUp: Query = {
  name: 'slices that are used up',
  lines: [
    'filter event in ["slice_used_up", "sandbox_seconds_over"]',
    '| stats count(*) as refusals, max(@timestamp) as last by event, measure, sessionId, workspaceId',
    '| sort last desc',
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
  slicesUsedUp,
  approvalsWaiting,
  costBySession,
  mcpServers,
];

/** Saved queries cost nothing until they run. */
export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, { deployment, functions }: Monitored) {
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

/** The construct id of a query: its name in camel case. */
const idOf = (name: Query['name']): string =>
  name
    .split(/[ ,]+/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');
