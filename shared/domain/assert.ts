/** Assertions that stay on in production: a handler that stops is better than one that gives wrong answers. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

export const invariant = (holds: boolean, statement: string): void => {
  if (!holds) throw new InvariantError(statement);
};

/** An impossible case: the compiler refuses the call unless every case above it is handled. */
export const assertNever = (value: never): never => {
  throw new InvariantError(`undecided case: ${JSON.stringify(value)}`);
};
