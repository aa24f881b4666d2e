import { describe, expect, test } from 'vitest';
import { answerSilenceMsMax } from '#shared/domain/limits.ts';
import { type ErrorCode, errorRules } from '#shared/errors.ts';
import { named, ofType, type Resource, synthesise } from './synthesise.ts';

const { edge } = synthesise();

describe('REST', () => {
  const method = (verb: string, path: string) => {
    const isAt = ({ ResourceId }: Resource['Properties']): boolean =>
      edge.Resources[ResourceId.Ref]?.Properties.PathPart === path;
    return ofType(edge, 'AWS::ApiGateway::Method').find(
      ({ Properties }) => Properties.HttpMethod === verb && isAt(Properties),
    )?.Properties;
  };

  test.each([
    ['/api', '{proxy+}', 'Functionsapi'],
    ['/mcp', 'mcp', 'Functionsmcp'],
  ])('answers under %s are streamed, for up to fifteen minutes, whatever the method', (_, path, handler) => {
    const { ResponseTransferMode, TimeoutInMillis, Type, Uri } = method('ANY', path).Integration;
    expect({ ResponseTransferMode, TimeoutInMillis, Type }).toEqual({
      ResponseTransferMode: 'STREAM',
      TimeoutInMillis: 900_000,
      Type: 'AWS_PROXY',
    });
    const parts = Uri['Fn::Join'][1];
    expect(parts).toContain(':lambda:path/2021-11-15/functions/');
    expect(parts.at(-1)).toBe('/response-streaming-invocations');
    expect(JSON.stringify(parts)).toContain(`PublishOutputFnGetAtt${handler}Function`);
  });

  test('health is answered by API Gateway itself', () => {
    const { Type, ContentHandling, IntegrationResponses } = method('GET', 'health').Integration;
    expect({ Type, ContentHandling }).toEqual({ Type: 'MOCK', ContentHandling: 'CONVERT_TO_TEXT' });
    expect(IntegrationResponses).toEqual([
      { ResponseTemplates: { 'application/json': '{"status":"ok"}' }, StatusCode: '200' },
    ]);
  });

  test('paths are /api/{proxy+}, /oauth/{proxy+}, /mcp, its metadata and /health, and a body is passed unchanged', () => {
    const paths = ofType(edge, 'AWS::ApiGateway::Resource').map(({ Properties }) => Properties.PathPart);
    expect(paths).toEqual([
      'api',
      '{proxy+}',
      'oauth',
      '{proxy+}',
      'mcp',
      '.well-known',
      '{proxy+}',
      'health',
    ]);
    expect(named(edge, 'AWS::ApiGateway::RestApi', 'ApiRest').Properties.BinaryMediaTypes).toEqual(['*/*']);
  });

  test('the stage limits rates and logs callers and paths, never a query', () => {
    const stage = named(edge, 'AWS::ApiGateway::Stage', 'ApiRest').Properties;
    expect(stage.MethodSettings).toEqual([
      {
        DataTraceEnabled: false,
        HttpMethod: '*',
        LoggingLevel: 'ERROR',
        ResourcePath: '/*',
        ThrottlingBurstLimit: 1000,
        ThrottlingRateLimit: 500,
      },
    ]);
    expect(stage.TracingEnabled).toBe(true);
    expect(stage.AccessLogSetting.Format).not.toMatch(/querystring|header/i);
  });

  const gatewayResponses = ofType(edge, 'AWS::ApiGateway::GatewayResponse').map(
    ({ Properties }) => Properties,
  );

  type Refused = { readonly status: string; readonly code: ErrorCode; readonly ownAdvice?: string };

  const refused: Readonly<Record<string, Refused>> = {
    MISSING_AUTHENTICATION_TOKEN: { status: '404', code: 'not_found' },
    THROTTLED: { status: '429', code: 'rate_limited' },
    REQUEST_TOO_LARGE: { status: '413', code: 'payload_too_large' },
    // No token helps at this address.
    INVALID_API_KEY: {
      ...{ status: '403', code: 'forbidden' },
      ownAdvice: 'Send the request to that address, which the operator of the deployment knows.',
    },
    // One message for all of them, which names no fault.
    DEFAULT_4XX: {
      ...{ status: '400', code: 'invalid_request' },
      ownAdvice: 'Compare the request with GET /api/openapi.json, and send it again.',
    },
    DEFAULT_5XX: { status: '500', code: 'internal_error' },
  };

  test('every refusal of API Gateway is among these', () => {
    expect(gatewayResponses.map(({ ResponseType }) => ResponseType).toSorted()).toEqual(
      Object.keys(refused).toSorted(),
    );
  });

  test.each(Object.entries(refused))(
    'a refusal of API Gateway, %s, has the shape of the platform’s errors',
    (type, { status, code, ownAdvice }) => {
      const refusal = gatewayResponses.find(({ ResponseType }) => ResponseType === type);
      if (refusal === undefined) throw new Error(`there is no response of the type ${type}`);
      expect(refusal.StatusCode).toBe(status);
      expect(refusal.ResponseParameters).toMatchObject({
        'gatewayresponse.header.x-request-id': 'context.requestId',
        'gatewayresponse.header.x-content-type-options': "'nosniff'",
      });
      expect(JSON.parse(refusal.ResponseTemplates['application/json'])).toEqual({
        error: {
          code,
          message: expect.any(String),
          suggestions: [ownAdvice ?? errorRules[code].advice],
          recoveryActions: [],
          requestId: '$context.requestId',
        },
      });
    },
  );
});

describe('the one origin', () => {
  const config = named(edge, 'AWS::CloudFront::Distribution', 'Distribution').Properties.DistributionConfig;
  const cachingDisabled = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
  const allButHost = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';
  const originOf = (id: string) => config.Origins.find(({ Id }: { readonly Id: string }) => Id === id);
  type Behavior = { readonly PathPattern: string; readonly TargetOriginId: string };

  test('passes REST, MCP, health and the WebSocket on, uncached, with every header but Host', () => {
    const patterns = config.CacheBehaviors.map(({ PathPattern }: Behavior) => PathPattern);
    expect(patterns).toEqual(['/api/*', '/mcp', '/.well-known/*', '/oauth/*', '/health', '/ws']);
    for (const behavior of config.CacheBehaviors)
      expect(behavior).toMatchObject({
        AllowedMethods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'],
        CachePolicyId: cachingDisabled,
        Compress: false,
        OriginRequestPolicyId: allButHost,
        ViewerProtocolPolicy: 'https-only',
      });
  });

  test('passes the browser’s host name and address to the API, whatever the browser sends', () => {
    const associated = config.CacheBehaviors.filter(
      ({ FunctionAssociations: [one] = [] }: { FunctionAssociations?: { EventType: string }[] }) =>
        one?.EventType === 'viewer-request',
    );
    // A cookie counts for pages of that name alone, on a request and on a WebSocket.
    expect(associated.map(({ PathPattern }: Behavior) => PathPattern)).toEqual([
      '/api/*',
      '/mcp',
      '/.well-known/*',
      '/oauth/*',
      '/ws',
    ]);
    const { FunctionCode: code } = named(
      edge,
      'AWS::CloudFront::Function',
      'DistributionViewerHost',
    ).Properties;
    const told = (uri: string, query?: string) =>
      new Function('event', `${code}; return handler(event);`)({
        viewer: { ip: '198.51.100.7' },
        request: {
          uri,
          rawQueryString: () => query,
          headers: {
            host: { value: 'own.example' },
            'x-forwarded-host': { value: 'evil.example' },
            'x-forwarded-address': { value: '203.0.113.9' },
            'x-forwarded-query': { value: '?evil' },
          },
        },
      }).headers;
    expect(told('/api/sessions')).toEqual({
      host: { value: 'own.example' },
      'x-forwarded-host': { value: 'own.example' },
      'x-forwarded-address': { value: '198.51.100.7' },
    });
    const preview = '/api/sessions/a/ports/8000/x';
    for (const query of ['', 'b&a=+%20&b='])
      expect(told(preview, query)).toHaveProperty('x-forwarded-query', { value: `?${query}` });
    for (const [uri, query] of [[preview], [preview, 'a'.repeat(4097)], [preview, 'é'], ['/ws', 'ticket=a']])
      expect(told(String(uri), query)).not.toHaveProperty('x-forwarded-query');
  });

  test('a client of /mcp is told how to authenticate, though API Gateway renames the header', () => {
    const policies = ofType(edge, 'AWS::CloudFront::ResponseHeadersPolicy').map(
      ({ Properties }) => Properties.ResponseHeadersPolicyConfig.CustomHeadersConfig?.Items,
    );
    expect(policies.filter((items) => items !== undefined)).toEqual([
      [{ Header: 'WWW-Authenticate', Override: true, Value: 'Bearer' }],
    ]);
    const [, mcp] = config.CacheBehaviors;
    expect(mcp.ResponseHeadersPolicyId).toBeDefined();
  });

  test('takes the stage of REST as the path of its origin, and that of the WebSocket from the URL', () => {
    const origins = config.CacheBehaviors.map(({ TargetOriginId }: Behavior) => originOf(TargetOriginId));
    const [api, mcp, metadata, oauth, health, ws] = origins;
    expect(api.OriginPath['Fn::Join'][1][0]).toBe('/');
    expect([mcp, metadata, oauth, health]).toEqual([api, api, api, api]);
    expect(ws.OriginPath).toBeUndefined();
    expect(JSON.stringify(ws.DomainName)).toContain('SocketApi');
  });

  test('waits longer than an answer is silent, by a margin for a cold start, and no longer than without a higher quota', () => {
    const { OriginReadTimeout: seconds } = originOf(
      config.CacheBehaviors[0].TargetOriginId,
    ).CustomOriginConfig;
    expect(seconds * 1000).toBeGreaterThanOrEqual(answerSilenceMsMax + 15_000);
    expect(seconds).toBeLessThanOrEqual(60);
  });

  test('keeps no error of an API for another caller, and replaces none by a page', () => {
    const kept = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];
    expect(config.CustomErrorResponses).toEqual(
      kept.map((ErrorCode) => ({ ErrorCode, ErrorCachingMinTTL: 0 })),
    );
  });

  test('speaks TLS 1.2 to its origins', () => {
    for (const { CustomOriginConfig: custom } of config.Origins)
      if (custom !== undefined)
        expect(custom).toMatchObject({ OriginProtocolPolicy: 'https-only', OriginSSLProtocols: ['TLSv1.2'] });
  });

  test('speaks at least TLS 1.2 to browsers with its own domain', () => {
    const certificateArn =
      'arn:aws:acm:us-east-1:111122223333:certificate/0a0a0a0a-0000-4000-8000-000000000000';
    const { edge: own } = synthesise({
      settings: { domain: { name: 'agents.example.com', certificateArn } },
    });
    const { Aliases, ViewerCertificate } = named(own, 'AWS::CloudFront::Distribution', 'Distribution')
      .Properties.DistributionConfig;
    expect(Aliases).toEqual(['agents.example.com']);
    expect(ViewerCertificate).toEqual({
      AcmCertificateArn: certificateArn,
      MinimumProtocolVersion: 'TLSv1.2_2021',
      SslSupportMethod: 'sni-only',
    });
  });

  test('sends headers under which the web app loads only from its own origin', () => {
    const { SecurityHeadersConfig: headers } = named(
      edge,
      'AWS::CloudFront::ResponseHeadersPolicy',
      'DistributionWebHeaders',
    ).Properties.ResponseHeadersPolicyConfig;
    expect(headers.ContentSecurityPolicy.ContentSecurityPolicy).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types vue",
    );
    expect(headers).toMatchObject({
      ContentTypeOptions: { Override: true },
      FrameOptions: { FrameOption: 'DENY' },
      ReferrerPolicy: { ReferrerPolicy: 'no-referrer' },
      StrictTransportSecurity: { AccessControlMaxAgeSec: 31_536_000, IncludeSubdomains: true },
    });
  });
});

describe('access logs of the distribution', () => {
  const logging = ({ edge: stack }: { readonly edge: typeof edge }) => ({
    distribution: named(stack, 'AWS::CloudFront::Distribution', 'Distribution').Properties.DistributionConfig
      .Logging,
    buckets: ofType(stack, 'AWS::S3::Bucket').map(
      ({ Properties }) => Properties.OwnershipControls.Rules[0].ObjectOwnership,
    ),
  });

  test('are written by CloudFront, which needs an access control list', () => {
    expect(logging({ edge })).toMatchObject({
      distribution: { Bucket: expect.anything() },
      buckets: ['BucketOwnerPreferred', 'BucketOwnerEnforced'],
    });
  });

  test('can be left out later: the bucket in which CloudFront has a grant keeps its access control list', () => {
    const owners = ({ edge: stack }: { readonly edge: typeof edge }) =>
      Object.entries(stack.Resources)
        .filter(([, { Type }]) => Type === 'AWS::S3::Bucket')
        .map(([id, { Properties }]) => [id, Properties.OwnershipControls.Rules[0].ObjectOwnership] as const);
    const before = new Map(owners({ edge }));
    for (const [id, owner] of owners(synthesise({ settings: { distributionLogs: false } })))
      expect(before.get(id) ?? owner).toBe(owner);
  });

  test('are left out on demand, and then no bucket of the deployment has access control lists', () => {
    expect(logging(synthesise({ settings: { distributionLogs: false } }))).toEqual({
      distribution: undefined,
      buckets: ['BucketOwnerEnforced', 'BucketOwnerEnforced'],
    });
  });
});

test('what CloudFront names by account carries the region, or the stage could not be deployed into a second one', () => {
  const names = ['Function', 'OriginAccessControl', 'ResponseHeadersPolicy'].flatMap((type) =>
    ofType(edge, `AWS::CloudFront::${type}`).map(
      ({ Properties: { Name, OriginAccessControlConfig, ResponseHeadersPolicyConfig } }) =>
        Name ?? (OriginAccessControlConfig ?? ResponseHeadersPolicyConfig).Name,
    ),
  );
  expect(names).toHaveLength(4);
  for (const name of names) {
    expect(name).toEqual({ 'Fn::Join': ['', expect.arrayContaining([{ Ref: 'AWS::Region' }])] });
    const texts = name['Fn::Join'][1].filter((part: unknown) => typeof part === 'string');
    expect(texts.join('').length + 'ap-southeast-1'.length).toBeLessThanOrEqual(64);
  }
  expect(new Set(names.map((name) => JSON.stringify(name))).size).toBe(names.length);
});

test('no bucket is public, and only CloudFront reads the web app', () => {
  const buckets = ofType(edge, 'AWS::S3::Bucket').map(({ Properties }) => Properties);
  expect(buckets).toHaveLength(2);
  for (const { PublicAccessBlockConfiguration } of buckets)
    expect(PublicAccessBlockConfiguration).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
  const { PolicyDocument } = named(edge, 'AWS::S3::BucketPolicy', 'DistributionWeb').Properties;
  const allowed = PolicyDocument.Statement.filter(
    ({ Effect }: { readonly Effect: string }) => Effect === 'Allow',
  );
  expect(allowed).toMatchObject([
    {
      Action: 's3:GetObject',
      Principal: { Service: 'cloudfront.amazonaws.com' },
      Condition: expect.any(Object),
    },
  ]);
});
