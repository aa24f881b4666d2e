/** The refusal of a sandbox's server as an error of ours; an unknown code is not passed on. That of a HEAD has its status alone. */
import { AppError, type AppErrorDetails, type ErrorCode, errorRules, isErrorCode } from '../../errors.ts';

export const refusalOf = async (
  response: Response,
  detailsOf: (code: ErrorCode) => AppErrorDetails = () => ({}),
): Promise<AppError> => {
  const text = await response.text();
  const { error } = (
    text === '' ? { error: { code: codeOf(response.status), message } } : JSON.parse(text)
  ) as Refusal;
  return isErrorCode(error.code)
    ? new AppError(error.code, error.message, detailsOf(error.code))
    : new AppError('internal_error', message);
};

type Refusal = { readonly error: { readonly code: string; readonly message: string } };

const message = 'the sandbox refused the request';

const codeOf = (status: number): string =>
  Object.entries(errorRules).find(([, rule]) => rule.status === status)?.[0] ?? '';
