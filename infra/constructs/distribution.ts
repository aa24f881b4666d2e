/**
 * The CloudFront distribution: one origin for the browser, in front of the web app's bucket, the REST API and the
 * WebSocket.
 *
 * Only the web app is cached, and of nothing an error. Every other request is forwarded with every header but Host, which must be API
 * Gateway's own; the answer of a preview keeps the headers that the function sets.
 */
import { Duration, Names, RemovalPolicy, Stack } from 'aws-cdk-lib';
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
  S3OriginAccessControl,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin, type HttpOriginProps, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { contentSecurityPolicy } from '#shared/config/web-headers.ts';
import type { Settings } from '../settings.ts';
import { acknowledge } from './nag-exceptions.ts';

export type WebDistributionProps = {
  /** Absent: CloudFront's own name and certificate. */
  readonly domain?: Settings['domain'];
  /** Absent: CloudFront writes access logs, by access control list. */
  readonly isLogged?: boolean;
  /** The ARN of a web firewall of scope CLOUDFRONT; absent: none. */
  readonly firewallArn?: string | undefined;
  readonly restApi: { readonly domainName: string; readonly path: string };
  readonly socketDomainName: string;
  /** Added to each request to the APIs. Absent: none. */
  readonly originHeaders?: Readonly<Record<string, string>> | undefined;
};

/** The longest pause between two parts of an answer; functions begin or end theirs sooner (`answerSilenceMsMax`). More needs a higher quota. */
const originPauseMax = Duration.seconds(60);
const hstsDays = 365;
/**
 * CloudFront keeps errors for ten seconds unless it is told otherwise, whatever the origin says of them, under method and path alone: one
 * caller would get the 404 of another. These are all that it may be told of
 * (https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/custom-error-pages-expiration.html).
 */
const errorsKept = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];
/** Leaves room for a word and a region in the 64 characters of a name. */
const distributionNameMax = 36;

export class WebDistribution extends Construct {
  readonly web: Bucket;
  readonly distribution: Distribution;

  constructor(scope: Construct, id: string, props: WebDistributionProps) {
    super(scope, id);
    const { domain, isLogged = true, firewallArn, restApi, socketDomainName, originHeaders = {} } = props;
    const apiOf = (domainName: string, originPath?: string): BehaviorOptions =>
      forward(origin(domainName, { customHeaders: originHeaders, ...(originPath && { originPath }) }));
    // One bucket each: a bucket in whose list CloudFront has a grant cannot do without lists.
    const logs = accessLogs(this, isLogged ? 'Logs' : 'WebLogs', isLogged);
    this.web = webBucket(this, 'Web', logs);
    const rest = apiOf(restApi.domainName, restApi.path);
    const functionAssociations = [this.addViewerHost()];
    const named = { ...rest, functionAssociations };
    this.distribution = new Distribution(this, 'Distribution', {
      comment: 'Sallyport',
      defaultRootObject: 'index.html',
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(this.web, { originAccessControl: this.addAccess() }),
        viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        cachePolicy: CachePolicy.CACHING_OPTIMIZED,
        responseHeadersPolicy: this.addWebHeaders(),
        compress: true,
      },
      additionalBehaviors: {
        '/api/*': named,
        '/mcp': { ...named, responseHeadersPolicy: this.addChallenge(domain) },
        '/.well-known/*': named,
        '/oauth/*': named,
        '/health': rest,
        '/ws': { ...apiOf(socketDomainName), functionAssociations },
      },
      errorResponses: errorsKept.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      httpVersion: HttpVersion.HTTP2_AND_3,
      ...(domain === undefined ? {} : this.named(domain)),
      ...(firewallArn === undefined ? {} : { webAclId: firewallArn }),
      ...(isLogged ? { enableLogging: true, logBucket: logs, logFilePrefix: 'distribution/' } : {}),
    });
    this.acknowledge(domain, firewallArn);
    if (!isLogged)
      acknowledge(
        this.distribution,
        'CFR3',
        'The operator does without them: API Gateway logs requests, and the bucket the web app.',
      );
  }

  private named({ name, certificateArn }: NonNullable<Settings['domain']>) {
    return {
      domainNames: [name],
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
    };
  }

  private addAccess(): S3OriginAccessControl {
    return new S3OriginAccessControl(this, 'WebAccess', { originAccessControlName: this.inRegion('web') });
  }

  /**
   * Names of CloudFront are unique in an account, and the CDK makes those of these resources from the stack alone: the same stage in
   * a second region would be refused (https://github.com/aws/aws-cdk/issues/34336).
   */
  private inRegion(name: string): string {
    const { region } = Stack.of(this);
    return `${Names.uniqueResourceName(this, { maxLength: distributionNameMax })}-${name}-${region}`;
  }

  /**
   * The policy of a preview names the origin that the browser sees, and a cookie counts for its pages: only CloudFront knows it. And it
   * knows the address by which people who are not known yet are counted: the APIs see that of its own server
   * (https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/functions-event-structure.html). And the query of a preview as it
   * was sent, which API Gateway decodes (`shared/contracts/preview-query.ts`): one that fits into the 10,240 bytes of all headers.
   * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/general-helper-methods.html
   */
  private addViewerHost(): FunctionAssociation {
    const code = [
      'function handler(event) {',
      '  var request = event.request;',
      "  request.headers['x-forwarded-host'] = { value: request.headers.host.value };",
      "  request.headers['x-forwarded-address'] = { value: event.viewer.ip };",
      "  delete request.headers['x-forwarded-query'];",
      "  if (request.uri.indexOf('/ports/') > 0) {",
      '    var query = request.rawQueryString();',
      "    if (query !== undefined && /^[!-~]{0,4096}$/.test(query)) request.headers['x-forwarded-query'] = { value: '?' + query };",
      '  }',
      '  return request;',
      '}',
    ].join('\n');
    return {
      eventType: FunctionEventType.VIEWER_REQUEST,
      function: new CloudFrontFunction(this, 'ViewerHost', {
        comment: 'Forwards the host that the browser requested, its address, and the query of a preview',
        code: FunctionCode.fromInline(code),
        runtime: FunctionRuntime.JS_2_0,
      }),
    };
  }

  /**
   * API Gateway renames `WWW-Authenticate` of an answer, and no CloudFront function sees a 401, so the header is on every
   * answer of the endpoint (RFC 9110, 11.6.1 allows that). Without a domain its address is not known here: then clients ask
   * for the metadata at its well-known path.
   */
  private addChallenge(domain: Settings['domain']): ResponseHeadersPolicy {
    const metadata =
      domain === undefined
        ? ''
        : ` resource_metadata="https://${domain.name}/.well-known/oauth-protected-resource/mcp"`;
    return new ResponseHeadersPolicy(this, 'Challenge', {
      responseHeadersPolicyName: this.inRegion('challenge'),
      customHeadersBehavior: {
        customHeaders: [{ header: 'WWW-Authenticate', value: `Bearer${metadata}`, override: true }],
      },
    });
  }

  private addWebHeaders(): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, 'WebHeaders', {
      responseHeadersPolicyName: this.inRegion('headers'),
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
    acknowledge(this.distribution, 'CFR1', 'Access is decided by a token, not by a country.');
    if (firewallArn === undefined)
      acknowledge(
        this.distribution,
        'CFR2',
        "A web firewall is billed by the month; it is the operator's choice.",
      );
    if (domain === undefined)
      acknowledge(
        this.distribution,
        'CFR4',
        "CloudFront's own certificate fixes its lowest protocol; a domain in the settings sets TLS 1.2.",
      );
  }
}

const origin = (
  domainName: string,
  options: Pick<HttpOriginProps, 'customHeaders' | 'originPath'>,
): IOrigin =>
  new HttpOrigin(domainName, {
    ...options,
    protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
    originSslProtocols: [OriginSslPolicy.TLS_V1_2],
    readTimeout: originPauseMax,
  });

const forward = (to: IOrigin): BehaviorOptions => ({
  origin: to,
  viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
  allowedMethods: AllowedMethods.ALLOW_ALL,
  cachePolicy: CachePolicy.CACHING_DISABLED,
  originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
  // A compressor would delay a streamed answer.
  compress: false,
});

const logDays = 90;

/** The web app is public, and S3 delivers access logs to buckets under its own keys only (https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html). */
const closed = {
  encryption: BucketEncryption.S3_MANAGED,
  enforceSSL: true,
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
};

const accessLogs = (scope: Construct, id: string, ofDistribution: boolean): Bucket => {
  const logs = new Bucket(scope, id, {
    ...closed,
    // CloudFront delivers its logs by access control list, S3 by the bucket's policy.
    objectOwnership: ofDistribution
      ? ObjectOwnership.BUCKET_OWNER_PREFERRED
      : ObjectOwnership.BUCKET_OWNER_ENFORCED,
    lifecycleRules: [{ expiration: Duration.days(logDays) }],
  });
  acknowledge(logs, 'S1', 'It receives the access logs.');
  return logs;
};

const webBucket = (scope: Construct, id: string, logs: Bucket): Bucket =>
  new Bucket(scope, id, {
    ...closed,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    serverAccessLogsBucket: logs,
    serverAccessLogsPrefix: 'web/',
  });
