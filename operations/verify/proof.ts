/** Proof on an implementation that comes from elsewhere: what it says, and whether it holds. */
export type Proof = {
  readonly name: string;
  /** What is held against what. */
  readonly about: string;
  readonly prove: (say: (line: string) => void) => Promise<Proved>;
};

export type Proved = {
  /** Of the implementation that it is held against. */
  readonly version: string;
  /** None: it holds. */
  readonly faults: readonly string[];
  /** Those that stay. */
  readonly differences?: readonly Difference[];
};

export type Difference = { readonly what: string; readonly became: string };
