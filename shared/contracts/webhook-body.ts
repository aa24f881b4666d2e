/**
 * The body of a webhook's request: `{type, timestamp, data}`, by the form of Standard Webhooks
 * (https://www.standardwebhooks.com). It names the event's subject and never its contents (WH6).
 */
import type { ProjectId } from '#shared/domain/ids.ts';
import type { Notice, NoticeData } from '#shared/domain/webhook/notice.ts';
import { iso } from './fields.ts';

/** The JSON that is signed and sent: the same bytes at every attempt. */
export const bodyOf = ({ type, at, data }: Notice, publicUrl: string): string => {
  const { scheduleId: _, ...told } = data;
  return JSON.stringify({ type, timestamp: iso(at), data: { ...told, url: addressOf(data, publicUrl) } });
};

/** The subject's address in the web app. */
const addressOf = (
  { sessionId, scheduleId }: Pick<NoticeData, 'sessionId' | 'scheduleId'>,
  publicUrl: string,
): string => {
  const app = `${publicUrl.replace(/\/+$/, '')}/#`;
  if (sessionId !== undefined) return `${app}/chat/${sessionId}`;
  return scheduleId === undefined ? `${app}/` : `${app}/schedules/${scheduleId}`;
};

/** The body of a test that a person requests. */
export const testBody = (
  { at, project }: { readonly at: number; readonly project: ProjectId | undefined },
  publicUrl: string,
): string =>
  JSON.stringify({
    type: 'test',
    timestamp: iso(at),
    data: {
      title: 'A test of this webhook',
      ...(project === undefined ? {} : { project }),
      url: addressOf({}, publicUrl),
    },
  });
