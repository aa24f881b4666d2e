/** Contents of the conformance suite's tools, prompts and resources. */
export const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A header of 44 bytes and no samples. */
const silence = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

export const text = (value: string) => ({ type: 'text' as const, text: value });
export const image = { type: 'image' as const, data: pixel, mimeType: 'image/png' };
export const audio = { type: 'audio' as const, data: silence, mimeType: 'audio/wav' };
export const resource = (uri: string, mimeType: string, value: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: value },
});
