/** Steps that wait for files take turns: those of one key run one after the other, in the order of their calls. */
export type InTurn = <T>(key: string, step: () => Promise<T>) => Promise<T>;

export const takeTurns = (): InTurn => {
  const last = new Map<string, Promise<void>>();
  return (key, step) => {
    const before = last.get(key);
    const result = before === undefined ? step() : before.then(step);
    const ended: Promise<void> = result.then(ignore, ignore).then(() => {
      if (last.get(key) === ended) last.delete(key);
    });
    last.set(key, ended);
    return result;
  };
};

const ignore = (): void => undefined;
