/**
 * A principal as the authorizer passes it to the socket function: API Gateway passes scalars on, as strings.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-lambda-authorizer-output.html
 */
import * as z from 'zod';
import type { Principal } from '../domain/principal.ts';
import { principalRecord } from './stored/access-records.ts';

export const contextPrincipal = z.object({
  ...principalRecord.shape,
  isPerson: z
    .literal('true')
    .transform(() => true as const)
    .exactOptional(),
  expiresAt: z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .exactOptional(),
});

export const toAuthorizerContext = (principal: Principal): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(principal).map(([name, value]) => [name, String(value)]));
