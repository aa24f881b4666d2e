/** What API Gateway refuses before a function is asked, in the shape and the words of `shared/errors.ts`. */
import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';

export const addRefusals = (api: RestApi): void => {
  for (const [name, { type, status, code, message, headers }] of Object.entries(refusals))
    api.addGatewayResponse(name, {
      type,
      statusCode: status,
      ...(headers === undefined ? {} : { responseHeaders: headers }),
      templates: { 'application/json': refusalBody(code, message) },
    });
};

type Refusal = {
  readonly type: ResponseType;
  readonly status: string;
  readonly code: string;
  readonly message: string;
  readonly headers?: Record<string, string>;
};

const refusals: Record<string, Refusal> = {
  NoRoute: {
    // API Gateway's name for a path without a method.
    type: ResponseType.MISSING_AUTHENTICATION_TOKEN,
    status: '404',
    code: 'not_found',
    message: 'there is nothing at this path',
  },
  Throttled: {
    type: ResponseType.THROTTLED,
    status: '429',
    code: 'rate_limited',
    message: 'too many requests',
    headers: { 'Retry-After': "'1'" },
  },
  TooLarge: {
    type: ResponseType.REQUEST_TOO_LARGE,
    status: '413',
    code: 'payload_too_large',
    message: 'the request is too large',
  },
  ClientFault: {
    type: ResponseType.DEFAULT_4XX,
    status: '400',
    code: 'invalid_request',
    message: 'the request is not valid',
  },
  OurFault: {
    type: ResponseType.DEFAULT_5XX,
    status: '500',
    code: 'internal_error',
    message: 'the request failed',
  },
};

const refusalBody = (code: string, message: string): string =>
  JSON.stringify({
    error: { code, message, suggestions: [], recoveryActions: [], requestId: '$context.requestId' },
  });
