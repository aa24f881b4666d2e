/** Assertions that stay on in production: a handler that stops is better than one that lies. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

export const invariant = (holds: boolean, statement: string): void => {
  if (!holds) throw new InvariantError(statement);
};

/** A case nobody decided: the compiler refuses the call unless every case above it is handled. */
export const assertNever = (value: never): never => {
  throw new InvariantError(`undecided case: ${JSON.stringify(value)}`);
};
