/** The check of webhooks: the receiver accepted each event under one id, at least once, and heard of nothing else. */
import type { AuditLine, Due, SoakRecord } from './record.ts';

export const deliveries = ({ sessions, delivered }: SoakRecord): AuditLine => {
  const due = sessions.flatMap(dueOf);
  const known = new Set(sessions.map(({ id }) => id));
  const heard = Map.groupBy(delivered, nameOf);
  const idsOf = (one: Due): ReadonlySet<string> => new Set(heard.get(nameOf(one))?.map(({ id }) => id));
  const names = new Set(due.map(nameOf));
  return {
    name: 'each event reaches the receiver',
    checked: due.length,
    problems: [
      ...due.filter((one) => idsOf(one).size === 0).map((one) => `${nameOf(one)} was not delivered`),
      ...due.filter((one) => idsOf(one).size > 1).map((one) => `${nameOf(one)} has several ids`),
      ...delivered
        .filter((one) => known.has(one.sessionId) && !names.has(nameOf(one)))
        .map((one) => `${nameOf(one)} was delivered and never happened`),
    ],
  };
};

const nameOf = ({ type, sessionId, turnId }: Due): string => `${type} ${sessionId} ${turnId}`;

const dueOf = ({ id, events }: SoakRecord['sessions'][number]): readonly Due[] =>
  events.flatMap(({ type, data }) => {
    if (type !== 'completion') return [];
    const isFailed = data['stopReason'] === 'error';
    return [
      { type: isFailed ? 'turn_failed' : 'turn_completed', sessionId: id, turnId: String(data['turnId']) },
    ];
  });
