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
  Distribution,
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
import type { Settings } from '../settings.ts';
import { acknowledge } from './acknowledge.ts';

export type FrontProps = {
  readonly domain: Settings['domain'];
  readonly api: { readonly domainName: string; readonly path: string };
  readonly socketDomainName: string;
};

/** The longest pause between two pieces of an answer; keep-alives come more often. */
const originPauseMax = Duration.seconds(60);
const logDays = 90;
const hstsDays = 365;

/** The app loads from its own origin alone; nothing may frame it. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export class Front extends Construct {
  readonly web: Bucket;
  readonly distribution: Distribution;

  constructor(scope: Construct, id: string, { domain, api, socketDomainName }: FrontProps) {
    super(scope, id);
    const logs = this.addLogs();
    this.web = this.addWeb(logs);
    const rest = passed(origin(api.domainName, api.path));
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
        '/api/*': rest,
        '/mcp': rest,
        '/health': rest,
        '/ws': passed(origin(socketDomainName)),
      },
      httpVersion: HttpVersion.HTTP2_AND_3,
      ...(domain === undefined ? {} : this.named(domain)),
      enableLogging: true,
      logBucket: logs,
      logFilePrefix: 'front/',
    });
    this.acknowledge(domain);
  }

  private named({ name, certificateArn }: NonNullable<Settings['domain']>) {
    return {
      domainNames: [name],
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
    };
  }

  private addLogs(): Bucket {
    const logs = new Bucket(this, 'Logs', {
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      // CloudFront delivers its logs by access control list.
      objectOwnership: ObjectOwnership.BUCKET_OWNER_PREFERRED,
      lifecycleRules: [{ expiration: Duration.days(logDays) }],
      removalPolicy: RemovalPolicy.RETAIN,
    });
    acknowledge(logs, 'S1', 'It is where the access logs go.');
    return logs;
  }

  private addWeb(logs: Bucket): Bucket {
    return new Bucket(this, 'Web', {
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      serverAccessLogsBucket: logs,
      serverAccessLogsPrefix: 'web/',
      removalPolicy: RemovalPolicy.RETAIN,
    });
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

  private acknowledge(domain: Settings['domain']): void {
    acknowledge(this.distribution, 'CFR1', 'A token decides who may talk, not a country.');
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
