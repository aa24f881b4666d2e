/**
 * The one origin: CloudFront before the web app's bucket, the REST API and the WebSocket.
 *
 * Only the web app is cached. The rest is passed on with every header but Host, which API Gateway needs to
 * be its own; what a sandbox shows through a preview keeps the headers the function gave it.
 */
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Function as CloudFrontFunction,
  Distribution,
  type FunctionAssociation,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HeadersFrameOption,
  HeadersReferrerPolicy,
  HttpVersion,
  type IOrigin,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  OriginSslPolicy,
  ResponseHeadersPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { contentSecurityPolicy } from '#shared/config/web-headers.ts';
import type { Settings } from '../settings.ts';
import { acknowledge } from './acknowledge.ts';

export type FrontProps = {
  /** Absent: CloudFront's own name and certificate. */
  readonly domain?: Settings['domain'];
  /** The ARN of a web firewall of scope CLOUDFRONT; absent: none. */
  readonly firewallArn?: string | undefined;
  readonly api: { readonly domainName: string; readonly path: string };
  readonly socketDomainName: string;
};

/** The longest pause between two pieces of an answer; keep-alives come more often. */
const originPauseMax = Duration.seconds(60);
const hstsDays = 365;

export class Front extends Construct {
  readonly web: Bucket;
  readonly distribution: Distribution;

  constructor(scope: Construct, id: string, { domain, firewallArn, api, socketDomainName }: FrontProps) {
    super(scope, id);
    const logs = accessLogs(this, 'Logs');
    this.web = webBucket(this, 'Web', logs);
    const rest = passed(origin(api.domainName, api.path));
    const named = { ...rest, functionAssociations: [this.addViewerHost()] };
    this.distribution = new Distribution(this, 'Distribution', {
      comment: 'Sallyport',
      defaultRootObject: 'index.html',
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(this.web),
        viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        cachePolicy: CachePolicy.CACHING_OPTIMIZED,
        responseHeadersPolicy: this.addWebHeaders(),
        compress: true,
      },
      additionalBehaviors: {
        '/api/*': named,
        '/mcp': rest,
        '/health': rest,
        '/ws': passed(origin(socketDomainName)),
      },
      httpVersion: HttpVersion.HTTP2_AND_3,
      ...(domain === undefined ? {} : this.named(domain)),
      ...(firewallArn === undefined ? {} : { webAclId: firewallArn }),
      enableLogging: true,
      logBucket: logs,
      logFilePrefix: 'front/',
    });
    this.acknowledge(domain, firewallArn);
  }

  private named({ name, certificateArn }: NonNullable<Settings['domain']>) {
    return {
      domainNames: [name],
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
    };
  }

  /** The policy of a preview names the origin that the browser sees, and only CloudFront knows it. */
  private addViewerHost(): FunctionAssociation {
    const code = [
      'function handler(event) {',
      '  var request = event.request;',
      "  request.headers['x-forwarded-host'] = { value: request.headers.host.value };",
      '  return request;',
      '}',
    ].join('\n');
    return {
      eventType: FunctionEventType.VIEWER_REQUEST,
      function: new CloudFrontFunction(this, 'ViewerHost', {
        comment: 'Tells the API under which name it was asked',
        code: FunctionCode.fromInline(code),
        runtime: FunctionRuntime.JS_2_0,
      }),
    };
  }

  private addWebHeaders(): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, 'WebHeaders', {
      securityHeadersBehavior: {
        contentSecurityPolicy: { contentSecurityPolicy, override: true },
        contentTypeOptions: { override: true },
        frameOptions: { frameOption: HeadersFrameOption.DENY, override: true },
        referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
        strictTransportSecurity: {
          accessControlMaxAge: Duration.days(hstsDays),
          includeSubdomains: true,
          override: true,
        },
      },
    });
  }

  private acknowledge(domain: Settings['domain'], firewallArn: string | undefined): void {
    acknowledge(this.distribution, 'CFR1', 'A token decides who may talk, not a country.');
    if (firewallArn === undefined)
      acknowledge(
        this.distribution,
        'CFR2',
        "A web firewall costs money by the month; it is the operator's choice.",
      );
    if (domain === undefined)
      acknowledge(
        this.distribution,
        'CFR4',
        "CloudFront's own certificate fixes its lowest protocol; a domain in the settings sets TLS 1.2.",
      );
  }
}

const origin = (domainName: string, originPath?: string): IOrigin =>
  new HttpOrigin(domainName, {
    ...(originPath === undefined ? {} : { originPath }),
    protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
    originSslProtocols: [OriginSslPolicy.TLS_V1_2],
    readTimeout: originPauseMax,
  });

const passed = (to: IOrigin): BehaviorOptions => ({
  origin: to,
  viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
  allowedMethods: AllowedMethods.ALLOW_ALL,
  cachePolicy: CachePolicy.CACHING_DISABLED,
  originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
  // A streamed answer is not to wait in a compressor.
  compress: false,
});

/**
 * The web app, and who asked for it: two buckets that stay with their stack's end, under S3's own keys.
 *
 * What CloudFront shows to everybody needs no key of the account, and S3 delivers access logs under no other
 * (https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html).
 */
const logDays = 90;

const closed = {
  encryption: BucketEncryption.S3_MANAGED,
  enforceSSL: true,
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  removalPolicy: RemovalPolicy.RETAIN,
};

export const accessLogs = (scope: Construct, id: string): Bucket => {
  const logs = new Bucket(scope, id, {
    ...closed,
    // CloudFront delivers its logs by access control list.
    objectOwnership: ObjectOwnership.BUCKET_OWNER_PREFERRED,
    lifecycleRules: [{ expiration: Duration.days(logDays) }],
  });
  acknowledge(logs, 'S1', 'It is where the access logs go.');
  return logs;
};

export const webBucket = (scope: Construct, id: string, logs: Bucket): Bucket =>
  new Bucket(scope, id, {
    ...closed,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    serverAccessLogsBucket: logs,
    serverAccessLogsPrefix: 'web/',
  });
