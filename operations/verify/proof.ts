/** Proof on an implementation that comes from elsewhere: what it says, and whether it holds. */
export type Proof = {
  readonly name: string;
  /** What is held against what. */
  readonly about: string;
  /** Gives the faults; none: it holds. */
  readonly prove: (say: (line: string) => void) => Promise<readonly string[]>;
};
