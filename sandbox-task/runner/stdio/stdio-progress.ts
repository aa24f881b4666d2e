/** Progress of a call, as lines and in batches; what comes faster than a reader could follow is dropped. */
export type StdioProgress = { readonly push: (text: string) => void; readonly close: () => void };

const batchMs = 50;
const batchCharactersMax = 4096;
const lineCharactersMax = 1000;

export const openProgress = (send: (text: Buffer) => void): StdioProgress => {
  let batch = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (batch !== '') send(Buffer.from(batch));
    batch = '';
  };
  return {
    push: (text) => {
      const line = `${text.slice(0, lineCharactersMax)}\n`;
      if (batch.length + line.length <= batchCharactersMax) batch += line;
      timer ??= setTimeout(flush, batchMs);
    },
    close: flush,
  };
};
