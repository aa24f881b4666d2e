/** The refusal of a sandbox's server as an error of ours; an unknown code is not passed on. */
import { AppError, type AppErrorDetails, type ErrorCode, isErrorCode } from '../../errors.ts';

export const refusalOf = async (
  response: Response,
  detailsOf: (code: ErrorCode) => AppErrorDetails = () => ({}),
): Promise<AppError> => {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return isErrorCode(error.code)
    ? new AppError(error.code, error.message, detailsOf(error.code))
    : new AppError('internal_error', 'the sandbox refused the request');
};
