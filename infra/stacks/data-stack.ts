/** What must outlive every deploy: the platform's data, and the account's role for API logs. */
import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { ApiLogRole } from '../constructs/api-log-role.ts';
import { PlatformData } from '../constructs/platform-data.ts';
import { keyOf } from '../constructs/platform-key.ts';
import { type Settings, sharedGuestPathOf } from '../settings.ts';

export class DataStack extends Stack {
  readonly data: PlatformData;

  constructor(scope: Construct, id: string, { settings }: { readonly settings: Settings }) {
    super(scope, id, { description: 'Sallyport: the table and what else is kept' });
    // Named so that they add nothing to the names of what is in them.
    this.data = new PlatformData(this, 'Default', {
      encryptionKey: keyOf(this, settings.encryption),
      hasSharedVolumes: sharedGuestPathOf(settings) !== undefined,
    });
    if (settings.ownsApiLogRole) new ApiLogRole(this, 'Account');
  }
}
