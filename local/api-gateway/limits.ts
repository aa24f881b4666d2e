/**
 * What API Gateway limits, as data, so that a test can wait milliseconds instead of hours: A2, A3,
 * A5, A14 and A15 in docs/spec/aws.md.
 *
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html
 */
export type WebSocketLimits = {
  readonly messageBytesMax: number;
  readonly frameBytesMax: number;
  readonly idleMsMax: number;
  readonly lifeMsMax: number;
  readonly integrationMsMax: number;
  /** How far a slow client may fall behind before posts to it are refused; AWS documents no number. */
  readonly sendBufferBytesMax: number;
};

export type RestLimits = {
  readonly requestBytesMax: number;
  readonly idleMsMax: number;
  readonly totalMsMax: number;
};

const minuteMs = 60_000;

export const webSocketLimits: WebSocketLimits = {
  messageBytesMax: 128 * 1024,
  frameBytesMax: 32 * 1024,
  idleMsMax: 10 * minuteMs,
  lifeMsMax: 120 * minuteMs,
  integrationMsMax: 29_000,
  sendBufferBytesMax: 1024 * 1024,
};

export const restLimits: RestLimits = {
  requestBytesMax: 10 * 1024 * 1024,
  idleMsMax: 5 * minuteMs,
  totalMsMax: 15 * minuteMs,
};
