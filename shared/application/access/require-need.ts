/** Asks the matrix what a principal may do, and refuses in one voice: with the scopes that would do. */
import {
  type Intent,
  mayRead,
  mayUse,
  mayWrite,
  type Need,
  type Owned,
  scopesFor,
} from '../../domain/access.ts';
import type { Principal } from '../../domain/principal.ts';
import { AppError } from '../../errors.ts';

/** For a door whose answer does not depend on whose a resource is. */
export const requireNeed = (principal: Pick<Principal, 'scope'>, need: Need): void => {
  if (!mayUse(principal, need)) throw missingScope(need);
};

/** For a resource that was found: a stranger's is answered as none (AC2), one that may only be read is refused (AC3). */
export const requireReach = (
  principal: Principal,
  resource: Owned,
  { intent, notFound }: { readonly intent: Intent; readonly notFound: () => AppError },
): void => {
  if (!mayRead(principal, resource)) throw notFound();
  if (intent === 'write' && !mayWrite(principal, resource)) throw missingScope('own:write');
};

const missingScope = (need: Need): AppError =>
  new AppError('forbidden', `this needs a token with scope ${scopesFor(need).join(' or ')}`, {
    suggestions: ['Use a token with such a scope.'],
    recoveryActions: ['authenticate'],
  });
