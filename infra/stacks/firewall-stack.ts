/** The web firewall, in a stack of its own because CloudFront's live in us-east-1. */
import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { FrontFirewall, firewallRegion } from '../constructs/front-firewall.ts';
import type { Settings } from '../settings.ts';

export class FirewallStack extends Stack {
  constructor(scope: Construct, id: string, { settings }: { readonly settings: Settings }) {
    super(scope, id, {
      description: 'Sallyport: the web firewall before CloudFront',
      env: { region: firewallRegion },
    });
    new FrontFirewall(this, 'Default', settings);
  }
}
