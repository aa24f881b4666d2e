/** The sessions of a project that have not ended, page by page. */
import type { ProjectId } from '../../domain/ids.ts';
import { pageItemsMax } from '../../domain/limits.ts';
import { isEnded, type Session } from '../../domain/session.ts';
import type { Deps } from '../deps.ts';

export async function* activeSessionsOf(
  { sessions }: Deps<'sessions'>,
  project: ProjectId,
): AsyncGenerator<Session> {
  let after: string | undefined;
  do {
    const page = await sessions.listOfProject(project, {
      itemsMax: pageItemsMax,
      ...(after === undefined ? {} : { after }),
    });
    yield* page.sessions.filter(({ status }) => !isEnded(status));
    after = page.next;
  } while (after !== undefined);
}
