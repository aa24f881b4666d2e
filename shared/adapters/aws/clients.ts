/**
 * The AWS clients, made once per environment. Endpoints and credentials are the SDK's own settings
 * (AWS_ENDPOINT_URL_*), by which the same code talks to the embedded cloud.
 */
import { ApiGatewayManagementApiClient } from '@aws-sdk/client-apigatewaymanagementapi';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Sockets } from '#shared/ports/connections.ts';
import { makeSockets } from './api-gateway-sockets.ts';
import { systemJitter, type Table } from './dynamo/table.ts';
import { makeTable } from './dynamo/transaction.ts';
import { itemValues } from './item-values.ts';

/** Attempts at a throttled or lost request before a handler fails and is invoked again. */
export const attemptsMax = 4;

export const openTable = (name: string): Table =>
  makeTable({
    name,
    jitter: systemJitter,
    client: DynamoDBDocumentClient.from(new DynamoDBClient({ maxAttempts: attemptsMax }), {
      marshallOptions: itemValues(),
    }),
  });

export const openSockets = (endpoint: string): Sockets =>
  makeSockets(new ApiGatewayManagementApiClient({ endpoint, maxAttempts: attemptsMax }));

export const openLambda = (): LambdaClient => new LambdaClient({ maxAttempts: attemptsMax });
