/**
 * Tool names as one provider allows them, and the way back, without two tools ever sharing a name.
 *
 * An allowed name stays as it is; any other is rewritten, and numbered where that would clash with another. The
 * same names in the same order always give the same map, so that prompts stay cacheable.
 */
export type ToolNameRule = {
  /** Matches, globally, each character the provider refuses at its position. */
  readonly refused: RegExp;
  readonly charactersMax: number;
};

export type ToolNames = {
  /** A name that was not given to `mapToolNames` comes back as it is. */
  readonly toWire: (name: string) => string;
  /** A name that no tool has, which a model may invent, comes back as it is. */
  readonly fromWire: (wire: string) => string;
};

export const mapToolNames = (names: readonly string[], rule: ToolNameRule): ToolNames => {
  const isAllowed = (name: string): boolean => allowedForm(name, rule) === name;
  const distinct = [...new Set(names)];
  const wires = new Map<string, string>();
  const owners = new Map<string, string>();
  // Allowed names go first: they stay as they are, whatever a rewritten one would have become.
  for (const name of [...distinct.filter(isAllowed), ...distinct.filter((other) => !isAllowed(other))]) {
    const wire = freeForm(allowedForm(name, rule), owners, rule);
    wires.set(name, wire);
    owners.set(wire, name);
  }
  return {
    toWire: (name) => wires.get(name) ?? name,
    fromWire: (wire) => owners.get(wire) ?? wire,
  };
};

const allowedForm = (name: string, { refused, charactersMax }: ToolNameRule): string =>
  (name === '' ? '_' : name.replaceAll(refused, '_')).slice(0, charactersMax);

const freeForm = (
  form: string,
  owners: ReadonlyMap<string, string>,
  { charactersMax }: ToolNameRule,
): string => {
  let free = form;
  for (let number = 2; owners.has(free); number += 1) {
    const suffix = `_${number}`;
    free = form.slice(0, charactersMax - suffix.length) + suffix;
  }
  return free;
};
