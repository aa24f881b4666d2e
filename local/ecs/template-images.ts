/**
 * The images of an operator's templates on one machine: built one after the other, with Docker or Podman, while the
 * program serves already. A sandbox of such a template waits for its image.
 *
 * Without an engine nothing is built, and the reason is kept for the people who ask for one.
 */
import { join } from 'node:path';
import type { NamedTemplate, Template } from '#shared/domain/template.ts';
import { buildTemplateImage, type ContainerEngine, type Containers } from './container-host.ts';

export type TemplateImages = {
  /** The reason why there are none. */
  readonly problem?: string;
  /** Undefined for a template of the platform's own. */
  readonly imageOf: (name: Template) => Promise<Containers> | undefined;
  /** Ends a build. */
  readonly stop: () => void;
};

type ImagesOptions = {
  readonly templates: readonly NamedTemplate[];
  /** For the build folders. */
  readonly folder: string;
  /** Undefined: none answers. */
  readonly engine: ContainerEngine | undefined;
  readonly progress: (line: string) => void;
};

const reasonCharactersMax = 500;
const withoutEngine =
  'it is built with Docker or Podman, and neither is running on this machine (Docker needs root or its rootless mode). Install and start one, then start Sallyport again';

export const openTemplateImages = (options: ImagesOptions): TemplateImages => {
  if (options.templates.length === 0) return { imageOf: () => undefined, stop: () => undefined };
  const { engine } = options;
  return engine === undefined ? noImages(options) : buildImages(engine, options);
};

const noImages = ({ templates, progress }: ImagesOptions): TemplateImages => {
  for (const { name } of templates) progress(`Template ${name} cannot be used: ${withoutEngine}`);
  return {
    problem: withoutEngine,
    imageOf: (name) =>
      templates.some((template) => template.name === name)
        ? Promise.reject(new Error(withoutEngine))
        : undefined,
    stop: () => undefined,
  };
};

const buildImages = (
  engine: ContainerEngine,
  { templates, folder, progress }: ImagesOptions,
): TemplateImages => {
  const images = new Map<Template, Promise<Containers>>();
  const stopping = new AbortController();
  const { signal } = stopping;
  let before: Promise<unknown> = Promise.resolve();
  for (const template of templates) {
    const { name } = template;
    const image = before.then(() => {
      signal.throwIfAborted();
      progress(`Building template ${name} with ${engine}`);
      return buildTemplateImage(engine, template, { folder: join(folder, name), signal });
    });
    images.set(name, image);
    before = image.then(
      () => progress(`Template ${name} is ready`),
      (cause: unknown) => {
        if (!signal.aborted) progress(`Template ${name} could not be built: ${reasonOf(cause)}`);
      },
    );
  }
  return { imageOf: (name) => images.get(name), stop: () => stopping.abort() };
};

/** The end of what the engine printed, where the reason is. */
export const reasonOf = (cause: unknown): string => {
  const { stderr = '', message = String(cause) } = cause as { stderr?: string; message?: string };
  const text = stderr.trim() === '' ? message : stderr.trim();
  return text.length <= reasonCharactersMax ? text : `…${text.slice(-reasonCharactersMax)}`;
};
