/** The path of a preview: the session, the port of its sandbox, and behind them the path of the page. */

const form = /^(\/api\/sessions\/([^/]+)\/ports\/(\d{1,5}))(\/.*)?$/s;

export type PreviewPath = {
  /** As it is spelt, without a slash at its end. */
  readonly root: string;
  readonly sessionId: string;
  readonly port: number;
  /** Empty, or begins with a slash; as the client encoded it. */
  readonly page: string;
};

/** Undefined for any other path. */
export const readPreviewPath = (path: string): PreviewPath | undefined => {
  const [, root, sessionId, digits, page = ''] = form.exec(path) ?? [];
  return root === undefined || sessionId === undefined
    ? undefined
    : { root, sessionId, port: Number(digits), page };
};
