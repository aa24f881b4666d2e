/** Checks a principal's permissions by the matrix, and refuses in one form: with the scopes that would suffice. */
import {
  type Intent,
  mayRead,
  mayUse,
  mayWrite,
  type Owned,
  type Permission,
  scopesFor,
} from '../../domain/access.ts';
import type { Principal } from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';

/** For an endpoint whose answer does not depend on the owner of a resource. */
export const requirePermission = (principal: Pick<Principal, 'scope'>, permission: Permission): void => {
  if (!mayUse(principal, permission)) throw missingScope(permission);
};

/**
 * For a resource that was found: a stranger's is answered as none (AC2), one that may only be read is refused
 * (AC3).
 */
export const requireReach = (
  principal: Principal,
  resource: Owned,
  { intent, notFound }: { readonly intent: Intent; readonly notFound: () => AppError },
): void => {
  if (!mayRead(principal, resource)) throw notFound();
  if (intent === 'write' && !mayWrite(principal, resource)) throw missingScope('own:write');
};

const missingScope = (permission: Permission): AppError =>
  new AppError('forbidden', `this needs a token with scope ${scopesFor(permission).join(' or ')}`, {
    suggestions: ['Use a token with such a scope.'],
    recoveryActions: ['authenticate'],
  });
