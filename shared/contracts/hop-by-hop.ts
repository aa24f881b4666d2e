/** The headers of one connection (RFC 9110, 7.6.1), which are not passed on, and `expect`, which a server answers itself. */
export const hopByHopHeaders = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
];
