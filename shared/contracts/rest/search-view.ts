/** Search over titles and messages as REST shows it: the query, and one page of results. */
import * as z from 'zod';
import {
  type FoundMessage,
  searchedMessagesMax,
  searchedSessionsMax,
  searchMatchesMax,
  searchTextCharactersMax,
} from '#shared/domain/search.ts';
import { type Session, sessionKinds, sessionStatuses } from '#shared/domain/session.ts';
import { afterPage, givenUuid, iso, queryFlag } from '../fields.ts';

export const searchQuery = z.object({
  text: z
    .string()
    .max(searchTextCharactersMax)
    .regex(/\S/u, 'give at least one word')
    .describe('Words to find, in any order and case; a title or a message matches if it holds all of them.'),
  project: givenUuid.optional(),
  archived: queryFlag.optional().describe('True: only archived sessions; false: only others; absent: all.'),
  after: afterPage,
});

const foundMessage = z.object({
  messageId: z.string(),
  role: z.enum(['user', 'assistant']),
  before: z.string(),
  match: z.string().describe('The first word of the query, as it was found.'),
  after: z.string(),
});

const foundSession = z
  .object({
    session: z.object({
      id: z.uuid(),
      kind: z.enum(sessionKinds),
      title: z.string().optional(),
      project: z.uuid(),
      status: z.enum(sessionStatuses),
      archived: z.boolean(),
      createdAt: z.iso.datetime(),
      lastActiveAt: z.iso.datetime(),
    }),
    titleFound: z.boolean(),
    messages: z
      .array(foundMessage)
      .describe(`At most ${searchMatchesMax} messages that match, the newest first.`),
  })
  .meta({ id: 'FoundSession' });

const count = z.number().int().min(0);

export const searchAnswer = z.object({
  found: z.array(foundSession).describe('Newest sessions first.'),
  searchedSessions: count.describe(`Sessions that this page searched, at most ${searchedSessionsMax}.`),
  cutConversations: count.describe(
    `Those of them of which only the newest messages were searched: at most ${searchedMessagesMax}, and 1 MB as stored.`,
  ),
  next: z.string().optional().describe('Present while older sessions are not searched yet.'),
});

type Found = {
  readonly session: Session;
  readonly isTitleFound: boolean;
  readonly messages: readonly FoundMessage[];
};

export const foundView = ({ session, isTitleFound, messages }: Found): z.output<typeof foundSession> => ({
  session: {
    id: session.id,
    kind: session.kind,
    ...(session.title === undefined ? {} : { title: session.title }),
    project: session.project,
    status: session.status,
    archived: session.isArchived ?? false,
    createdAt: iso(session.createdAt),
    lastActiveAt: iso(session.lastActiveAt),
  },
  titleFound: isTitleFound,
  messages: [...messages],
});
