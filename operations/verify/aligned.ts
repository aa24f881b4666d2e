/** Rows of text in columns, each as wide as its widest cell. Pure. */
export const aligned = (rows: readonly (readonly string[])[]): readonly string[] => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};
