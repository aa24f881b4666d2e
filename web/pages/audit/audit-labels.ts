/** Labels of an audit row. Pure; an unknown action keeps its name. */
import type { AuditRow } from '#sdk/routes.ts';
import { visibleText } from '#shared/domain/visible-text.ts';

const idCharacters = 8;
const uuid = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const hash = /^[0-9a-f]{12,}$/;

/** Long ids are shortened; the title attribute has all of it. */
export const shortId = (text: string): string =>
  uuid.test(text) || hash.test(text) ? text.slice(0, idCharacters) : visibleText(text);

export const actorLabel = ({ actor, actorKind, actorName }: AuditRow): string => {
  const called = actorName === undefined ? undefined : visibleText(actorName);
  if (actor === 'janitor') return 'the platform';
  if (actorKind === 'person') return called ?? visibleText(actor);
  return called === undefined ? `token ${shortId(actor)}` : `${called} (token ${shortId(actor)})`;
};

const done: Readonly<Record<string, string>> = {
  create: 'created',
  change: 'changed',
  update: 'changed',
  delete: 'deleted',
  remove: 'removed',
  revoke: 'revoked',
  withdraw: 'withdrawn',
  grant: 'granted',
  put: 'set',
  set: 'set',
  add: 'added',
  enable: 'enabled',
  disable: 'disabled',
};

/** `token.create` is `Token created`. */
export const actionLabel = ({ action, detail }: AuditRow): string => {
  if (action === 'approval.decide') {
    const tool = typeof detail['name'] === 'string' ? visibleText(detail['name']) : 'a call';
    return `${detail['approved'] === true ? 'Approved' : 'Rejected'} ${tool}`;
  }
  const words = visibleText(action).split(/[._]/);
  const verb = words.at(-1) ?? '';
  const sentence = [...words.slice(0, -1), done[verb] ?? verb].join(' ');
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
};

const detailNames: Readonly<Record<string, string>> = {
  sessionId: 'session',
  turnId: 'turn',
  callId: 'call',
  editedDigest: 'changed to',
};
/** Details that come first, in this order. */
const leading = ['sessionId', 'turnId', 'callId', 'digest', 'editedDigest'];
/** Details of a decision that other columns show. */
const shownElsewhere = ['name', 'approved', 'by'];

/** Each detail as a name and a text. */
export const detailsOf = ({ action, detail }: AuditRow): readonly (readonly [string, string])[] => {
  const isDecision = action === 'approval.decide';
  const rank = (name: string): number => (leading.includes(name) ? leading.indexOf(name) : leading.length);
  return Object.entries(detail)
    .filter(([name]) => !(isDecision && shownElsewhere.includes(name)))
    .toSorted(([one], [other]) => rank(one) - rank(other) || one.localeCompare(other))
    .map(([name, value]) => [
      detailNames[name] ?? visibleText(name),
      typeof value === 'string' ? shortId(value) : visibleText(JSON.stringify(value)),
    ]);
};
