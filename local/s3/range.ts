/**
 * The Range header of a GetObject: one range, or none.
 *
 * A header that is not understood is ignored, as RFC 9110 says; one that lies outside the object is refused.
 */
import { AwsError } from '../endpoint/aws-error.ts';

/** Both ends belong to it. */
export const parseRange = (
  header: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | undefined => {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (start > end)
    throw new AwsError(416, 'InvalidRange', { message: 'The requested range is not satisfiable' });
  return { start, end };
};
