/**
 * Templates: the images that sandboxes start from. Two are the platform's own; an operator names others in the settings,
 * each by its Dockerfile or by an image.
 *
 * A text that lists none, too many, or one name twice is refused with the reason.
 */

/** The languages of code; each is also the name of a template. */
export const languages = ['python', 'node'] as const;
export type Language = (typeof languages)[number];

/** The name of a template. */
export type Template = string;

/** Python packages that template `python` has besides the interpreters and tools of every template. */
export const pythonPackages = ['numpy', 'pandas', 'matplotlib', 'requests'] as const;

type Contents = { readonly description: string; readonly packages: readonly string[] };

export const languageContents: Record<Language, Contents> = {
  python: { description: 'Python for data and charts, with Node.js', packages: pythonPackages },
  node: { description: 'Node.js, with Python', packages: [] },
};

/** A template as an operator's settings name it. */
export type NamedTemplate = {
  readonly name: Template;
  readonly description?: string;
} & (
  | { readonly dockerfile: string; readonly image?: never }
  | { readonly image: string; readonly dockerfile?: never }
);

type DecodedTemplates =
  | { readonly ok: true; readonly templates: readonly NamedTemplate[] }
  | { readonly ok: false; readonly problem: string };

/** Also the family of a task definition and the tag of an image. */
export const templateNamePattern = /^[a-z][a-z0-9-]{0,31}$/;
export const namedTemplatesMax = 10;
/** Every function that starts sessions has the text in its environment, which Lambda limits to 4 KB. */
export const templatesCharactersMax = 1500;
const placeCharactersMax = 512;
const descriptionCharactersMax = 200;
const fields = ['name', 'description', 'dockerfile', 'image'];

/** Code that names no language runs in that of its session's template. An operator's template has both. */
export const languageOf = (template: Template): Language =>
  languages.find((language) => language === template) ?? 'python';

export const decodeTemplates = (text: string): DecodedTemplates => {
  if (text.length > templatesCharactersMax)
    return { ok: false, problem: `it has more than ${templatesCharactersMax} characters` };
  const listed = parsed(text);
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > namedTemplatesMax)
    return { ok: false, problem: `it is not a list of 1 to ${namedTemplatesMax} templates` };
  if (!listed.every(isTemplate)) return { ok: false, problem: 'one of them is no template' };
  const names = [...languages, ...listed.map(({ name }) => name)];
  if (new Set(names).size < names.length) return { ok: false, problem: 'a name is taken' };
  return { ok: true, templates: listed };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const isTemplate = (value: unknown): value is NamedTemplate => {
  if (typeof value !== 'object' || value === null) return false;
  const { name, description = '', dockerfile, image } = value as Readonly<Record<string, unknown>>;
  return (
    Object.keys(value).every((field) => fields.includes(field)) &&
    typeof name === 'string' &&
    templateNamePattern.test(name) &&
    typeof description === 'string' &&
    description.length <= descriptionCharactersMax &&
    (dockerfile === undefined) !== (image === undefined) &&
    isPlace(dockerfile ?? image)
  );
};

/** Without spaces and a leading dash, which a program would read as an option. */
const isPlace = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= placeCharactersMax && /^[\w./~:@][\w./~:@+-]*$/.test(value);
