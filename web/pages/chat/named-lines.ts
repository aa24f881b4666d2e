/** Names with values, one on each line of a text field: labels (`key:value`) and variables (`NAME=value`). */

export type NamedLines = {
  readonly values: Readonly<Record<string, string>>;
  /** The first line that names nothing, in words for a person. */
  readonly problem?: string;
};

/** Empty lines count for nothing. Spaces around a name are left out, those of a value stay. */
export const parseNamedLines = (text: string, sign: ':' | '='): NamedLines => {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const wrong = lines.find((line) => line.indexOf(sign) < 1);
  if (wrong !== undefined)
    return { values: {}, problem: `Line ${lines.indexOf(wrong) + 1} has no name before ${sign}` };
  const pairs = lines.map((line): readonly [string, string] => {
    const at = line.indexOf(sign);
    return [line.slice(0, at).trim(), line.slice(at + 1)];
  });
  return { values: Object.fromEntries(pairs) };
};
