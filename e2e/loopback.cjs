// Preloaded into a server that would listen on all interfaces: it listens on a loopback port, and
// prints it. The port is a free one unless the variable LOOPBACK_PORT names it.
const net = require('node:net');
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (_port, ...rest) {
  this.once('listening', () => console.error(`listening on http://127.0.0.1:${this.address().port}/mcp`));
  return listen.call(this, Number(process.env.LOOPBACK_PORT ?? 0), '127.0.0.1', ...rest);
};
