/**
 * One page of ListObjectsV2: keys under a prefix, rolled up at a delimiter, at most a thousand entries.
 *
 * It is pure: it takes the sorted keys and says which belong on the page (A27).
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
 */
export type ListQuery = {
  readonly prefix: string;
  readonly delimiter: string;
  /** Entries up to and including this one are left out. */
  readonly after: string;
  readonly entriesMax: number;
};

export type ListPage = {
  readonly keys: readonly string[];
  readonly commonPrefixes: readonly string[];
  /** Where the next page begins; absent on the last. */
  readonly next: string | undefined;
};

export const listPage = (sorted: readonly string[], query: ListQuery): ListPage => {
  const keys: string[] = [];
  const commonPrefixes: string[] = [];
  let last = '';
  for (const key of sorted) {
    if (!key.startsWith(query.prefix) || isBehind(key, query)) continue;
    const rolled = rollUp(key, query);
    if (rolled !== undefined && rolled === commonPrefixes.at(-1)) continue;
    if (keys.length + commonPrefixes.length === query.entriesMax) return { keys, commonPrefixes, next: last };
    last = rolled ?? key;
    (rolled === undefined ? keys : commonPrefixes).push(last);
  }
  return { keys, commonPrefixes, next: undefined };
};

/** A page that ended with a rolled-up prefix has dealt with everything below it. */
const isBehind = (key: string, { after, delimiter }: ListQuery): boolean =>
  after !== '' &&
  (Buffer.compare(Buffer.from(key), Buffer.from(after)) <= 0 ||
    (delimiter !== '' && after.endsWith(delimiter) && key.startsWith(after)));

const rollUp = (key: string, { prefix, delimiter }: ListQuery): string | undefined => {
  if (delimiter === '') return undefined;
  const end = key.indexOf(delimiter, prefix.length);
  return end < 0 ? undefined : key.slice(0, end + delimiter.length);
};
