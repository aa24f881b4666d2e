/** The decider of a call, in words. Pure; a name is shown beside and trusted for nothing. */
import type { deciderKinds } from '#shared/domain/principal.ts';
import { visibleText } from '#shared/domain/visible-text.ts';

type Decided = {
  readonly kind: (typeof deciderKinds)[number];
  readonly id: string;
  readonly name?: string | undefined;
};

const idCharacters = 8;

export const deciderWords = ({ kind, id, name }: Decided): string => {
  const shortId = id.slice(0, idCharacters);
  const called = name === undefined ? undefined : visibleText(name);
  switch (kind) {
    case 'token':
      return called === undefined ? `by the token ${shortId}` : `by ${called} (token ${shortId})`;
    case 'person':
      return `by ${called ?? visibleText(id)}`;
    case 'grant':
      return `by the grant ${called ?? shortId}`;
    case 'policy':
      return `by the session's policy ${visibleText(id)}`;
  }
};
