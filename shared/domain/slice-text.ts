/** The use that a branch has made of its slice, in words: a text for each limit that the slice names, for the app and the command line. */

type ShownSlice = {
  readonly maxCostUsd?: number | undefined;
  readonly spentUsd: number;
  readonly unsettledUsd: number;
  readonly maxTotalTokens?: number | undefined;
  readonly totalTokens: number;
  readonly unsettledTokens: number;
  readonly maxToolCalls?: number | undefined;
  readonly toolCalls: number;
  readonly maxSandboxSeconds?: number | undefined;
  readonly sandboxSeconds: number;
  readonly maxEgressBytes?: number | undefined;
  readonly egressBytes: number;
};

/** All that may have been used counts as used. */
export const sliceTexts = (
  slice: ShownSlice,
  money: (used: number, max: number) => string,
): readonly string[] => {
  const { maxCostUsd, maxTotalTokens, maxToolCalls, maxSandboxSeconds, maxEgressBytes } = slice;
  const tokens = slice.totalTokens + slice.unsettledTokens;
  return [
    ...(maxCostUsd === undefined ? [] : [money(slice.spentUsd + slice.unsettledUsd, maxCostUsd)]),
    ...(maxTotalTokens === undefined ? [] : [`${tokens} of ${maxTotalTokens} tokens`]),
    ...(maxToolCalls === undefined ? [] : [`${slice.toolCalls} of ${maxToolCalls} tool calls`]),
    ...(maxSandboxSeconds === undefined
      ? []
      : [`${slice.sandboxSeconds} of ${maxSandboxSeconds} s of sandboxes`]),
    ...(maxEgressBytes === undefined ? [] : [`${slice.egressBytes} of ${maxEgressBytes} bytes of egress`]),
  ];
};
