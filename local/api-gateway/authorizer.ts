/**
 * The verdict of a Lambda authorizer, read as API Gateway reads it.
 *
 * An explicit Deny beats any Allow; the policy must cover the `$connect` ARN; context values are scalars
 * and arrive as strings. A function that throws `Unauthorized` is 401, any other fault of it 500 (A6).
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-output.html
 */
import type { Buffered } from '../lambda/invocation.ts';
import type { Authorization } from './connection.ts';

export type Verdict =
  | { readonly kind: 'allowed'; readonly authorization: Authorization }
  | { readonly kind: 'refused'; readonly status: 401 | 403 | 500; readonly message: string };

type Statement = { readonly Effect?: unknown; readonly Action?: unknown; readonly Resource?: unknown };
type Answer = {
  readonly principalId?: unknown;
  readonly policyDocument?: { readonly Statement?: readonly Statement[] | Statement };
  readonly context?: Readonly<Record<string, unknown>> | null;
};

const fault: Verdict = { kind: 'refused', status: 500, message: 'Internal server error' };
const unauthorized: Verdict = { kind: 'refused', status: 401, message: 'Unauthorized' };
const deniedImplicitly: Verdict = {
  kind: 'refused',
  status: 403,
  message: 'User is not authorized to access this resource',
};
const deniedExplicitly: Verdict = {
  kind: 'refused',
  status: 403,
  message: 'User is not authorized to access this resource with an explicit deny',
};

export const readVerdict = ({ outcome, payload }: Buffered, methodArn: string): Verdict => {
  if (outcome.kind === 'failed') return outcome.error.errorMessage === 'Unauthorized' ? unauthorized : fault;
  const answer = JSON.parse(payload) as Answer | null;
  const statements = [answer?.policyDocument?.Statement ?? []].flat().filter((one) => covers(one, methodArn));
  if (answer === null || typeof answer.principalId !== 'string') return fault;
  if (statements.some(({ Effect }) => Effect === 'Deny')) return deniedExplicitly;
  if (!statements.some(({ Effect }) => Effect === 'Allow')) return deniedImplicitly;
  const context = Object.entries(answer.context ?? {});
  if (context.some(([, value]) => typeof value === 'object')) return fault;
  return {
    kind: 'allowed',
    authorization: {
      principalId: answer.principalId,
      ...Object.fromEntries(context.map(([name, value]) => [name, String(value)])),
    },
  };
};

const covers = ({ Action, Resource }: Statement, methodArn: string): boolean =>
  matches(Action, 'execute-api:Invoke') && matches(Resource, methodArn);

const matches = (patterns: unknown, subject: string): boolean =>
  [patterns].flat().some((pattern) => typeof pattern === 'string' && wildcard(pattern).test(subject));

const wildcard = (pattern: string): RegExp =>
  new RegExp(`^${pattern.split('*').map(escapeForRegExp).join('.*')}$`);

const escapeForRegExp = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
