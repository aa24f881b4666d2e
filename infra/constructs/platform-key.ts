/**
 * A customer-managed key for the platform's table, checkpoints, secrets and logs.
 *
 * It rotates once a year and is never deleted with the stack, since the data would be lost. Functions use it only
 * through the service that stores the data; its policy allows CloudWatch Logs.
 */
import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Settings } from '../settings.ts';
import type { Statement } from './permission.ts';

export class PlatformKey extends Construct {
  readonly key: Key;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.key = new Key(this, 'Key', {
      description: 'Sallyport: table, checkpoints, secrets, logs',
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    this.key.addToResourcePolicy(forLogs(Stack.of(this)));
  }
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html */
const forLogs = ({ region, account, partition }: Stack): PolicyStatement =>
  new PolicyStatement({
    principals: [new ServicePrincipal(`logs.${region}.amazonaws.com`)],
    actions: ['kms:Decrypt*', 'kms:Describe*', 'kms:Encrypt*', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
    resources: ['*'],
    conditions: {
      ArnLike: {
        'kms:EncryptionContext:aws:logs:arn': `arn:${partition}:logs:${region}:${account}:log-group:*`,
      },
    },
  });

/** The key of the settings, new or existing; undefined for AWS's own keys. */
export const keyOf = (scope: Construct, encryption: Settings['encryption']): IKey | undefined => {
  if (encryption === 'aws-managed') return undefined;
  if (encryption === 'customer-managed') return new PlatformKey(scope, 'Encryption').key;
  return Key.fromKeyArn(scope, 'Encryption', encryption.keyArn);
};

type KeyUse = { readonly service: 'dynamodb' | 's3' | 'secretsmanager'; readonly actions: readonly string[] };

/** To use the key through one service and in no other way (https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service). */
export const useKey = (key: IKey | undefined, { service, actions }: KeyUse): readonly Statement[] => {
  if (key === undefined) return [];
  const region = Stack.of(key).region;
  return [
    {
      actions: actions.map((action) => `kms:${action}`),
      resources: [key.keyArn],
      conditions: { StringEquals: { 'kms:ViaService': `${service}.${region}.amazonaws.com` } },
    },
  ];
};
