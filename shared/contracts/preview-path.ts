/**
 * The path of a preview: the session, the port of its sandbox, and behind them the path of the page. In a browser a grant stands between
 * them: a browser may send no cookie with what a sandboxed page loads, so its address itself has to open its port.
 */

const form = /^(\/api\/sessions\/([^/]+)\/ports\/(\d{1,5}))(?:\/~([0-9a-f]{64})(?=\/))?(\/.*)?$/s;

export type PreviewPath = {
  /** As it is spelt, without a slash at its end. */
  readonly root: string;
  readonly sessionId: string;
  readonly port: number;
  readonly grant?: string;
  /** Empty, or begins with a slash; as the client encoded it. */
  readonly page: string;
};

/** Undefined for any other path. */
export const readPreviewPath = (path: string): PreviewPath | undefined => {
  const [, root, sessionId, digits, grant, page = ''] = form.exec(path) ?? [];
  return root === undefined || sessionId === undefined
    ? undefined
    : { root, sessionId, port: Number(digits), page, ...(grant === undefined ? {} : { grant }) };
};
