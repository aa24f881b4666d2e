/** What a client meets: one CloudFront origin before the web app, the REST API with MCP, and the WebSocket. */
import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Edge } from '../constructs/edge.ts';
import type { Front } from '../constructs/front.ts';
import { logKeepingOf } from '../constructs/kept-log.ts';
import type { StreamedApi } from '../constructs/streamed-api.ts';
import { SyntheticCheck } from '../constructs/synthetic-check.ts';
import { WebhookSweep } from '../constructs/webhook-sweep.ts';
import type { Settings } from '../settings.ts';
import type { ComputeStack } from './compute-stack.ts';
import type { DataStack } from './data-stack.ts';

export type EdgeStackProps = {
  readonly settings: Settings;
  readonly data: DataStack;
  readonly compute: ComputeStack;
};

export class EdgeStack extends Stack {
  readonly door: StreamedApi;
  readonly front: Front;

  constructor(scope: Construct, id: string, { settings, data, compute }: EdgeStackProps) {
    super(scope, id, { description: 'Sallyport: REST, MCP, web app and the one origin' });
    const { functions, socket } = compute;
    // Named so that it adds nothing to the names of what is in it.
    const edge = new Edge(this, 'Default', {
      settings,
      logs: logKeepingOf(settings, data.data.encryptionKey),
      api: functions.api,
      mcp: functions.mcp,
      socket,
    });
    this.door = edge.door;
    this.front = edge.front;
    new WebhookSweep(this, 'WebhookSweep', { function: functions.webhooks, url: edge.url });
    new SyntheticCheck(this, 'SyntheticCheck', { settings, function: functions.synthetic, url: edge.url });
  }
}
