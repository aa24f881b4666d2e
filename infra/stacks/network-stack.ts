/** The network of the sandboxes, one of our own or one that is there already: it changes least of all. */
import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { existingVpc } from '../constructs/existing-network.ts';
import { logKeepingOf } from '../constructs/kept-log.ts';
import { SandboxNetwork } from '../constructs/sandbox-network.ts';
import type { Settings } from '../settings.ts';
import type { DataStack } from './data-stack.ts';

export type NetworkStackProps = { readonly settings: Settings; readonly data: DataStack };

export class NetworkStack extends Stack {
  readonly network: SandboxNetwork;

  constructor(scope: Construct, id: string, { settings, data: { data } }: NetworkStackProps) {
    super(scope, id, { description: 'Sallyport: the network of the sandboxes' });
    const { existing, ...own } = settings.network;
    this.network = new SandboxNetwork(this, 'Default', {
      ...own,
      ...(existing === undefined
        ? {}
        : { vpc: existingVpc(this, 'Existing', existing), vpcIsIsolated: existing.isIsolated }),
      workspaces: data.workspaces,
      deployment: settings.deployment,
      logs: logKeepingOf(settings, data.encryptionKey),
    });
  }
}
