// Preloaded into a server that would listen on all interfaces: it listens on a free loopback port, and prints it.
const net = require('node:net');
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (_port, ...rest) {
  this.once('listening', () => console.error(`listening on http://127.0.0.1:${this.address().port}/mcp`));
  return listen.call(this, 0, '127.0.0.1', ...rest);
};
