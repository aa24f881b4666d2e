/** What an operator watches: the parts of a deployment that dashboard, alarms and saved queries are about. */
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { WebSocketApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';

export type WatchedFunction = {
  readonly name: string;
  readonly lambda: IFunction & { readonly logGroup: ILogGroup };
};

export type Watched = {
  readonly deployment: string;
  /** Where docs/runbook.md is read. */
  readonly runbookUrl: string;
  readonly functions: readonly WatchedFunction[];
  readonly table: ITableV2;
  readonly indexes: readonly string[];
  readonly sockets: WebSocketApi;
  readonly requests: RestApi;
  /** Invocations of the turn that failed for good. */
  readonly lostTurns: IQueue;
  /** Whatever else was never handled. */
  readonly lostEvents: IQueue;
};
