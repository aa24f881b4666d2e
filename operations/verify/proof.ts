/** Proof on an implementation that comes from elsewhere: what it says, and whether it holds. */
export type Proof = {
  readonly name: string;
  /** The two things that are compared. */
  readonly about: string;
  /** Made only if it is named. */
  readonly isOnRequest?: boolean;
  readonly prove: (say: (line: string) => void) => Promise<Proved>;
};

type Proved = {
  /** Of the implementation that it is held against. */
  readonly version: string;
  /** None: it holds. */
  readonly faults: readonly string[];
  /** Those that stay. */
  readonly differences?: readonly Difference[];
};

export type Difference = { readonly what: string; readonly became: string };

type Planned = { readonly proof: Proof; readonly isMade: boolean };

/** All but those on request, or those that are named; one on request that is not named is no part of the run. */
export const planOf = (proofs: readonly Proof[], wanted: readonly string[]): readonly Planned[] =>
  proofs.flatMap((proof) => {
    const { name, isOnRequest = false } = proof;
    const isMade = wanted.length === 0 ? !isOnRequest : wanted.includes(name);
    return isMade || !isOnRequest ? [{ proof, isMade }] : [];
  });
