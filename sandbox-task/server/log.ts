/** The log: one JSON object a line on stderr. It never carries what user code wrote, nor a token. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;
export type Log = {
  readonly info: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
};

export const createLog = (write: (line: string) => void): Log => {
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}): void =>
      write(`${JSON.stringify({ at: new Date().toISOString(), level, message, ...fields })}\n`);
  return { info: at('info'), warn: at('warn') };
};
