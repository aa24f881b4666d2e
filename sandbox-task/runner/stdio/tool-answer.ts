/**
 * The answer of a tool and the list of tools of an MCP server, within the bounds of the platform.
 *
 * Pure, and it trusts nothing: texts are cut in the middle, images have the bounds of displayed ones, and a block
 * without a form in a result is named instead.
 */

import type { JsonObject } from '#shared/domain/json.ts';
import { cutMiddle, firstCharacters } from '#shared/domain/text.ts';
import {
  blocksMax,
  resultBytesMax,
  resultsMax,
  structuredBytesMax,
  toolDescriptionCharactersMax,
  toolListBytesMax,
  toolNameCharactersMax,
  toolsMax,
} from '../../wire/program-messages.ts';
import { isObject, type RpcAnswer } from './rpc-peer.ts';

type AnswerBlock = { readonly mimeType: string; readonly content: Buffer };
export type ToolAnswer = {
  readonly isError: boolean;
  readonly errorCode: number | null;
  readonly blocks: readonly AnswerBlock[];
  readonly structured: Buffer;
  readonly isCut: boolean;
};

/** The same bound as a program's output has. */
const textCharactersMax = 512 * 1024;
const wordCharactersMax = 200;
/** A text is left out when there is room for less than this. */
const textCharactersMin = 100;
const imageType = /^image\/[\w.+-]{1,100}$/;
const empty = Buffer.alloc(0);

export const readToolAnswer = (answer: RpcAnswer): ToolAnswer => {
  if ('error' in answer) {
    const { code, message } = answer.error;
    const blocks = [textBlock(`MCP error ${code}: ${message}`)];
    return { isError: true, errorCode: code, blocks, structured: empty, isCut: false };
  }
  const { result } = answer;
  if (result['resultType'] === 'input_required') {
    const blocks = [
      textBlock('The MCP server requests input from a person or a model, which is not supported.'),
    ];
    return { isError: true, errorCode: null, blocks, structured: empty, isCut: false };
  }
  const { content, structuredContent, isError } = result;
  const shown = readBlocks(Array.isArray(content) ? content : []);
  const structured = isObject(structuredContent) ? Buffer.from(JSON.stringify(structuredContent)) : empty;
  const isTooLong = structured.length > structuredBytesMax;
  return {
    isError: isError === true,
    errorCode: null,
    blocks: shown.blocks,
    structured: isTooLong ? empty : structured,
    isCut: shown.isCut || isTooLong,
  };
};

const textBlock = (text: string): AnswerBlock => ({ mimeType: 'text/plain', content: Buffer.from(text) });

const readBlocks = (content: readonly unknown[]) => {
  const blocks: AnswerBlock[] = [];
  let pictures = 0;
  let pictureBytesLeft = resultBytesMax;
  let charactersLeft = textCharactersMax;
  let leftOut = 0;
  let isCut = false;
  const addText = (text: string): void => {
    if (text.length > charactersLeft && charactersLeft < textCharactersMin) {
      leftOut += 1;
      return;
    }
    const shown = cutMiddle(text, charactersLeft);
    isCut ||= shown !== text;
    charactersLeft = Math.max(0, charactersLeft - shown.length);
    blocks.push(textBlock(shown));
  };
  const addPicture = ({ data, mimeType }: Picture): void => {
    const content = Buffer.from(data, 'base64');
    if (pictures === resultsMax || content.length > pictureBytesLeft) {
      leftOut += 1;
      return;
    }
    pictures += 1;
    pictureBytesLeft -= content.length;
    blocks.push({ mimeType, content });
  };
  for (const block of content) {
    if (blocks.length === blocksMax) leftOut += 1;
    else if (isPicture(block)) addPicture(block);
    else addText(describeBlock(block));
  }
  if (leftOut > 0) blocks.push(textBlock(`[${leftOut} blocks of the answer left out]`));
  return { blocks, isCut: isCut || leftOut > 0 };
};

type Picture = { readonly data: string; readonly mimeType: string };

const isPicture = (block: unknown): block is Picture =>
  isObject(block) &&
  block['type'] === 'image' &&
  typeof block['data'] === 'string' &&
  typeof block['mimeType'] === 'string' &&
  imageType.test(block['mimeType']);

/** A block without a form for a language model is named. */
const describeBlock = (block: unknown): string => {
  if (!isObject(block)) return '[a block of unknown type left out]';
  const { type, text, uri, name, resource, mimeType } = block;
  if (type === 'text' && typeof text === 'string') return text;
  if (type === 'resource' && isObject(resource) && typeof resource['text'] === 'string')
    return resource['text'];
  if (type === 'resource_link') return word(`[resource ${name ?? ''} ${uri}]`);
  return word(`[a block left out: ${type} ${mimeType ?? ''}]`);
};

const word = (text: string): string => firstCharacters(text, wordCharactersMax);

export type ToolList = { readonly json: Buffer; readonly leftOut: number };

/** Tools without a name of use, and those over the bounds, are counted. */
export const boundTools = (tools: readonly unknown[]): ToolList => {
  const listed: string[] = [];
  let bytes = 0;
  for (const tool of tools) {
    const text = isObject(tool) ? describeTool(tool) : undefined;
    const more = text === undefined ? 0 : Buffer.byteLength(text) + 1;
    if (text === undefined || listed.length === toolsMax || bytes + more >= toolListBytesMax) continue;
    bytes += more;
    listed.push(text);
  }
  return { json: Buffer.from(`[${listed.join(',')}]`), leftOut: tools.length - listed.length };
};

const describeTool = ({ name, description, inputSchema }: JsonObject): string | undefined => {
  if (typeof name !== 'string' || name === '' || name.length > toolNameCharactersMax) return undefined;
  return JSON.stringify({
    name,
    ...(typeof description === 'string'
      ? { description: cutMiddle(description, toolDescriptionCharactersMax) }
      : {}),
    inputSchema: isObject(inputSchema) ? inputSchema : { type: 'object' },
  });
};
