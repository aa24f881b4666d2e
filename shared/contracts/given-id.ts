/** Ids as clients give them: in any case, and lower-cased before anything is compared with them (AC6). */
import * as z from 'zod';
import { canonicalUuid } from '#shared/domain/ids.ts';

export const givenUuid = z.uuid().overwrite(canonicalUuid);

/** For an id whose lookup validates its form, with an error of its own. */
export const givenId = (text: z.ZodString): z.ZodString => text.overwrite(canonicalUuid);
