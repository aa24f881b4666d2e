/** A port of which a test needs some methods only. */
export const fake = <Port>(part: Partial<Port>): Port => part as Port;
