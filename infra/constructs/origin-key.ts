/**
 * The key by which API Gateway recognises requests of CloudFront: without it a client that knows the APIs' own addresses
 * passes the web firewall.
 *
 * An API key of API Gateway, which CloudFront adds to each request and a client cannot replace: a header of the origin wins over
 * the client's (https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/add-origin-custom-headers.html). Its plan limits
 * nothing. It says where a request came through, and never who sent it.
 */
import { CfnApiKey, CfnUsagePlan, CfnUsagePlanKey, type IStage } from 'aws-cdk-lib/aws-apigateway';
import type { WebSocketStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';

export type OriginKeyProps = { readonly deployment: string };

export type KeyedStages = { readonly rest: IStage; readonly socket: WebSocketStage };

/** API Gateway takes 20 to 128 letters and digits. */
const keyCharacters = 64;

export class OriginKey extends Construct {
  /** Added by CloudFront to each request. */
  readonly headers: Readonly<Record<string, string>>;
  private readonly key: CfnApiKey;

  constructor(scope: Construct, id: string, { deployment }: OriginKeyProps) {
    super(scope, id);
    const secret = new Secret(this, 'Secret', {
      description: 'Sallyport: the key by which API Gateway recognises requests of CloudFront',
      generateSecretString: { excludePunctuation: true, passwordLength: keyCharacters },
    });
    acknowledge(secret, 'SMG4', 'Neither API Gateway nor CloudFront would read another value by itself.');
    const value = secret.secretValue.unsafeUnwrap();
    this.headers = { 'x-api-key': value };
    this.key = new CfnApiKey(this, 'Key', { name: `${deployment}-origin`, enabled: true, value });
  }

  /** Their routes require the key by themselves; a key is of use only to stages of its plan. */
  admitTo({ rest, socket }: KeyedStages): void {
    const plan = new CfnUsagePlan(this, 'Plan', {
      apiStages: [
        { apiId: rest.restApi.restApiId, stage: rest.stageName },
        { apiId: socket.api.apiId, stage: socket.stageName },
      ],
    });
    new CfnUsagePlanKey(this, 'PlanKey', {
      keyId: this.key.attrApiKeyId,
      keyType: 'API_KEY',
      usagePlanId: plan.attrId,
    });
  }
}
