/** The errors that a route may answer with: those of any such request, and those its contract adds. */
import { scopeKinds, scopesFor } from '#shared/domain/access.ts';
import { type ErrorCode, errorRules } from '#shared/errors.ts';
import type { ApiRoute } from '../api-route.ts';

export type DocumentedRoute = Pick<ApiRoute, 'path' | 'needs' | 'resource' | 'contract'>;

export const documentedErrors = ({
  path,
  needs,
  resource,
  contract,
}: DocumentedRoute): readonly ErrorCode[] => {
  const { query, headers, body, errors = [] } = contract;
  const isRefusedToSome = scopesFor(needs).length < scopeKinds.length;
  const named = resource === undefined ? [] : ([`${resource}_not_found`] as const);
  return [
    ...(query === undefined && headers === undefined && body === undefined
      ? []
      : ['invalid_request' as const]),
    'unauthenticated',
    ...(isRefusedToSome ? ['forbidden' as const] : []),
    ...(path.includes('{') ? [...named, 'not_found' as const] : []),
    ...(body === undefined ? [] : ['payload_too_large' as const]),
    'rate_limited',
    'internal_error',
    ...errors,
  ];
};

/** The codes of one status, in the order of the error table. */
export const codesOf = (status: number): readonly ErrorCode[] =>
  (Object.keys(errorRules) as ErrorCode[]).filter((code) => errorRules[code].status === status);

export const errorStatuses: readonly number[] = [
  ...new Set(Object.values(errorRules).map(({ status }) => status)),
].sort((one, other) => one - other);
