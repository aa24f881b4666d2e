/** A command's usage for people: broken into lines before an option or an alternative, never between an option and its value. */
const columnsMax = 96;
const indent = '    ';

export const usageLines = (usage: string): readonly string[] => {
  const [first = '', ...parts] = usage.split(/(?<!\|) (?=\[|\(|\||--)/);
  const lines: string[] = [];
  let line = first;
  for (const part of parts) {
    const longer = `${line} ${part}`;
    if (longer.length > columnsMax) lines.push(line);
    line = longer.length > columnsMax ? `${indent}${part}` : longer;
  }
  return [...lines, line];
};
