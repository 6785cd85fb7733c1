// Preloaded (`node --require`) into a server that has no option for its address and would listen on
// all interfaces: makes it listen on the loopback interface only.
const net = require("node:net");
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  return listen.call(this, port, "127.0.0.1", ...rest);
};
